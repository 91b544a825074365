"""The strings of a function with its block barriers: B behind the instruction that waits."""

from collections.abc import Iterator
from dataclasses import replace

from sassan.alphabet import Letter
from sassan.app.result import AnalysisResult
from sassan.ipet.sm.barriers import waits_for_block
from sassan.strings.blocks import path_blocks, path_string
from sassan.strings.kernel_string import KernelString, letters
from sassan.warpcfg.graph import Node


def with_barriers(result: AnalysisResult) -> AnalysisResult:
    """The result with B in the strings of its blocks, and in that of its worst path."""
    strings = tuple(
        None if string is None else letters(_letters(result, node)) for string, node in zip(result.strings, result.cfg.nodes, strict=True)
    )
    path = result.wcet.path
    worst = None if path is None else path_string(path_blocks(result.cfg, path), [string or KernelString() for string in strings])
    return replace(result, strings=strings, worst_path=worst)


def _letters(result: AnalysisResult, node: Node) -> Iterator[Letter]:
    for instruction in node.code:
        facts = result.isa.facts(instruction)
        if facts is not None:
            yield facts.letter
        if waits_for_block(instruction, result.isa.facts):
            yield Letter.BARRIER
