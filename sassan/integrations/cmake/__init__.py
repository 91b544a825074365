"""CMake: `python -m sassan.integrations.cmake` prints the folder of Sassan.cmake, for CMAKE_MODULE_PATH."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
"""Where Sassan.cmake is."""
