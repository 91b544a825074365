"""The server: requests of the protocol over standard input and output, each call in a worker that can be ended."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
from anyio.to_thread import run_sync
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from sassan import __version__
from sassan.collector import collect_rarely
from sassan.errors import UsageError
from sassan.mcp.answers import rounded
from sassan.mcp.calls import CallLimits, ToolAnswer, ToolCall, too_large
from sassan.mcp.catalogue import TOOLS
from sassan.mcp.messages import TOO_LARGE, BoundedLines, private_input
from sassan.mcp.tools import ServedTool
from sassan.mcp.work import refused
from sassan.mcp.workers import CallWorkers

_SHOWN = 200
_INSTRUCTIONS = """Estimates and bounds of the execution time of CUDA kernels, without a GPU. The loop of a program that writes kernels: \
`estimate` a kernel for its GPU and launch; read `bound_by`, `stalls`, `explain` and `advise`; change the kernel; `estimate` again, and \
keep the change where `us` falls. `diff` shows what a change did to the machine code. Errors have stable codes; `hint` says what to pass."""
_ESCAPED = 8
"""Bytes of a message for a byte of an input: characters may be escaped in it."""


class KernelServer:
    """Answers requests about kernels: files are those below a folder, and every call is held to limits."""

    def __init__(self, root: str, limits: CallLimits, workers: CallWorkers, *, programs: bool) -> None:
        """Take the folder, the limits, the processes for calls, and whether `record` may run programs of the folder."""
        self._root, self._limits, self._workers, self._programs = root, limits, workers, programs
        self.tools = {name: tool for name, tool in TOOLS.items() if programs or not tool.programs}
        self._server: Server[dict[str, Any]] = Server(
            "sassan", version=__version__, instructions=_INSTRUCTIONS, on_list_tools=self._list, on_call_tool=self._call
        )

    async def serve(self) -> None:
        """Answer until standard input ends."""
        limit = _ESCAPED * self._limits.input
        async with stdio_server(stdin=BoundedLines(private_input(), limit)) as (received, sent):  # type: ignore[arg-type]
            await self._server.run(received, sent, self._server.create_initialization_options())

    async def _list(self, context: object, parameters: object) -> types.ListToolsResult:
        del context, parameters
        return types.ListToolsResult(
            tools=[types.Tool(name=each.name, description=each.text, input_schema=dict(each.schema)) for each in self.tools.values()]
        )

    async def _call(self, context: object, parameters: types.CallToolRequestParams) -> types.CallToolResult:
        del context
        given = parameters.arguments or {}
        answer = self._refusal(parameters.name, given)
        if answer is None:
            seconds = min(self._limits.seconds, given.get("time_limit", self._limits.seconds))
            call = ToolCall(parameters.name, given, self._root, replace(self._limits, seconds=seconds))
            answer = await run_sync(self._workers.answer, call)
        document = rounded(answer.document)
        text = types.TextContent(type="text", text=json.dumps(document, separators=(",", ":")))
        return types.CallToolResult(content=[text], structured_content=document, is_error=answer.refused)

    def _refusal(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """Return the answer to a call that is not begun, None for one that is to be."""
        if name == TOO_LARGE:
            return refused(too_large(self._limits))
        tool = self.tools.get(name)
        if tool is None:
            hint = f"one of {', '.join(self.tools)}"
            return refused(UsageError("unknown-tool", f"there is no tool '{name[:_SHOWN]}'", hint=hint))
        problem = _problem(tool, arguments)
        return (
            None
            if problem is None
            else refused(UsageError("arguments", problem, hint=f"the tool takes {', '.join(tool.schema['properties'])}"))
        )


def _problem(tool: ServedTool, arguments: Mapping[str, Any]) -> str | None:
    """Return what is wrong with arguments, None where they fit the schema."""
    unknown = sorted(arguments.keys() - tool.schema["properties"].keys())
    if unknown:
        return f"{tool.name} takes no argument '{unknown[0][:_SHOWN]}'"
    error = best_match(Draft202012Validator(tool.schema).iter_errors(dict(arguments)))
    if error is None:
        return None
    place = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in error.absolute_path).lstrip(".")
    return f"{place or tool.name}: {error.message[:_SHOWN]}"


def serve(root: str, limits: CallLimits, jobs: int, *, programs: bool) -> None:
    """Serve standard input until it ends, with so many calls at a time."""
    collect_rarely()  # what is imported stays: nothing looks through it when the server ends, either
    with CallWorkers(jobs) as workers:
        anyio.run(KernelServer(root, limits, workers, programs=programs).serve)
