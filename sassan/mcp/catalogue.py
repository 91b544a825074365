"""The tools that the server has, by name, in the order in which a client sees them."""

from collections.abc import Mapping

from sassan.mcp.tool_of_programs import RECORD
from sassan.mcp.tools import ServedTool
from sassan.mcp.tools_of_code import DIFF, LISTING
from sassan.mcp.tools_of_time import BOUND, ESTIMATE, EXPLAIN

# The tool `advise` joins here, behind `explain`, as `ServedTool("advise", …, schema(CODE, LAUNCH, required=("gpu",)), …)`.
TOOLS: Mapping[str, ServedTool] = {each.name: each for each in (ESTIMATE, EXPLAIN, BOUND, LISTING, DIFF, RECORD)}
