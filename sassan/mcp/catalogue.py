"""The tools that the server has, by name, in the order in which a client sees them."""

from collections.abc import Mapping

from sassan.mcp.tool_of_advice import ADVISE
from sassan.mcp.tool_of_programs import RECORD
from sassan.mcp.tools import ServedTool
from sassan.mcp.tools_of_code import DIFF, LISTING
from sassan.mcp.tools_of_time import BOUND, ESTIMATE, EXPLAIN

TOOLS: Mapping[str, ServedTool] = {each.name: each for each in (ESTIMATE, EXPLAIN, ADVISE, BOUND, LISTING, DIFF, RECORD)}
