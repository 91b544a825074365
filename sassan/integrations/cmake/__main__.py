"""Prints the folder of Sassan.cmake."""

import sys

from sassan.integrations.cmake import FOLDER

sys.stdout.write(f"{FOLDER}\n")
