"""PTX: text to syntax, syntax to ir, and back to text."""
