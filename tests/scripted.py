"""Modules of the scripts, which are not a package: imported with their folder on the path."""

import sys
from importlib import import_module
from types import ModuleType

from cli.shell import ROOT


def scripted(name: str) -> ModuleType:
    """Return the module `_lib.NAME` of the scripts."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        return import_module(f"_lib.{name}")
    finally:
        sys.path.remove(str(ROOT / "scripts"))
