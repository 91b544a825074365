"""The grammar of PTX, built on first use."""

from sassan.frontend.grammar import Grammar, grammar

STARTS = ("module", "fragment", "instruction", "operand")


def ptx_grammar() -> Grammar:
    """Return the grammar with all its start symbols."""
    return grammar("ptx", STARTS)
