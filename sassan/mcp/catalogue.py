"""The tools that the server has, by name."""

from collections.abc import Mapping

from sassan.mcp.tools import ServedTool
from sassan.mcp.tools_of_time import BOUND, ESTIMATE, EXPLAIN

TOOLS: Mapping[str, ServedTool] = {each.name: each for each in (ESTIMATE, BOUND, EXPLAIN)}
"""In the order in which a client sees them."""
