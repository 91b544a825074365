"""Numbers with their nouns: 1 block, 2 blocks."""


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return a number with the noun in the form that it takes; `plural` is that of a noun without a plain s."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"
