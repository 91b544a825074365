"""The fixture that runs the command line in process."""

from cli.conftest import sassan

__all__ = ["sassan"]
