"""A local page that follows the files it shows."""
