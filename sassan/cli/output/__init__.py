"""How anything is printed and written: tables, files, documents, errors, progress."""
