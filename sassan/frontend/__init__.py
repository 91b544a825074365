"""The readers of file formats: `load` returns the text or the image of a file (`content`: of bytes), `read` its program."""

from sassan.frontend.image import Image
from sassan.frontend.load import content, load
from sassan.frontend.reader import read

__all__ = ["Image", "content", "load", "read"]
