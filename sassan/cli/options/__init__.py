"""Options and arguments, declared once, so that one word means the same in every command."""
