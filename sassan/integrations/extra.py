"""Libraries that an integration needs, imported when it is used."""

from importlib import import_module
from types import ModuleType

from sassan.errors import MissingToolError
from sassan.extras import install


def library(name: str, extra: str) -> ModuleType:
    """Return the module `name`.

    Raises MissingToolError `missing-extra` with the command that installs the extra.
    """
    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        raise MissingToolError("missing-extra", f"this needs {top}: {error}", hint=install(extra)) from error
