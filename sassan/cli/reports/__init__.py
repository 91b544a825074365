"""What each command prints: tables, lines and documents."""
