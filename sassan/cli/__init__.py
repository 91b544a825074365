"""The command line: the only room that prints, prompts or exits."""
