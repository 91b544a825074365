"""Everything that reads a file format: `load` gets the text (`content`: of bytes), `read` makes it a program."""

from sassan.frontend.image import Image
from sassan.frontend.load import content, load
from sassan.frontend.reader import read

__all__ = ["Image", "content", "load", "read"]
