"""Products by name: as NVIDIA, its tools and people write it."""

import re
from difflib import get_close_matches

from sassan.arch import cached, described
from sassan.errors import UsageError
from sassan.products.files import FORMAT, further, paths, read_path
from sassan.products.product import Product

_VENDOR = frozenset({"nvidia", "geforce", "tesla"})
"""Words in front of a name that tell no product from another."""
_LIST = "sassan gpus lists them"
_NEAR = 0.7
"""How alike two names must be, of 1."""
_LONGEST = 80
"""Characters of a name that are compared."""
_NAMED = 6
"""Names in a message."""


def products() -> tuple[Product, ...]:
    """Return all products, by architecture.

    Raises InputError `bad-gpu`, UsageError where the folder of further ones cannot be read.
    """
    return _products(further())


def find(text: str) -> Product:
    """Return the product of a name or an alias; case, punctuation and the words in front of it that tell no product do not matter.

    Nothing less is taken for a name: an H20 is not an H200. Raises UsageError `unknown-gpu` with the names that come near.
    """
    wanted = _words(text)
    known = {product: [_words(name) for name in (product.name, *product.aliases)] for product in products()}
    for product, names in known.items():
        if wanted and any("".join(words) == "".join(wanted) for words in names):
            return product
    inside = [product.name for product, names in known.items() if any(set(words) <= set(wanted) for words in names)]
    fitting = [product.name for product, names in known.items() if wanted and any(_fits(wanted, words) for words in names)]
    joined = {"".join(words): product.name for product, names in known.items() for words in names}
    close = [joined[match] for match in get_close_matches("".join(wanted)[:_LONGEST], joined, cutoff=_NEAR)]
    near = list(dict.fromkeys([*inside, *fitting, *close]))
    raise UsageError("unknown-gpu", f"unknown GPU '{text}'", hint=f"did you mean {_listed(near)}? {_LIST}" if near else _LIST)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


@cached
def _products(folder: str) -> tuple[Product, ...]:
    out = sorted(
        (product for path in paths(folder) for product in read_path(path)), key=lambda product: described(product.architecture).number
    )
    owner: dict[str, Product] = {}
    for product in out:
        for name in (product.name, *product.aliases):
            if owner.setdefault("".join(_words(name)), product) is not product:
                raise FORMAT.refused(f"{product.name}: the name '{name}' stands for another product; choose another one")
    return tuple(out)


def _words(name: str) -> tuple[str, ...]:
    return tuple(word for word in re.findall(r"[a-z0-9]+", name.lower()) if word not in _VENDOR)


def _fits(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return all(any(word.startswith(part) for word in words) for part in wanted) or "".join(words).startswith("".join(wanted))
