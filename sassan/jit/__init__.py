"""Functions compiled to machine code, and the clock that stops while they are."""
