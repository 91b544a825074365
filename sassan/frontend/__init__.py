"""Everything that reads a file format: `load` gets the text, `read` makes it a program."""

from sassan.frontend.image import Image
from sassan.frontend.load import load
from sassan.frontend.reader import read

__all__ = ["Image", "load", "read"]
