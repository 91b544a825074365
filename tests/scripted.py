"""Modules of the scripts, which are not a package: imported with their folders on the path."""

import sys
from importlib import import_module
from types import ModuleType

from cli.shell import ROOT


def scripted(name: str) -> ModuleType:
    """Return the module `_lib.NAME` of the scripts."""
    folders = [str(ROOT / "scripts"), str(ROOT / "scripts" / "_lib")]
    sys.path[:0] = folders
    try:
        return import_module(f"_lib.{name}")
    finally:
        for folder in folders:
            sys.path.remove(folder)
