"""The readers of file formats: `load` returns the text or the image of a file (`content`: of bytes), `read` its program.

`read_ahead` disassembles several cubins that are read next.
"""

from sassan.frontend.cubin.together import read_ahead
from sassan.frontend.image import Image
from sassan.frontend.load import content, load
from sassan.frontend.reader import read

__all__ = ["Image", "content", "load", "read", "read_ahead"]
