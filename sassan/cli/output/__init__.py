"""What is printed and written: tables, reports, documents, errors."""
