"""The model beyond the papers: instructions that take several slots, and block barriers."""
