"""Reads compiled code: cubins, and what holds cubins (host programs, libraries, fatbins)."""
