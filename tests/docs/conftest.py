"""The fixture of the command line."""

from cli.conftest import sassan

__all__ = ["sassan"]
