"""Pictures and documents of what was found: DOT, SVG, PNG, PDF, JSON."""
