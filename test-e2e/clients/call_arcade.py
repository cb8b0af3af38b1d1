"""Calls tools of arcade-posthog. Each input line is a call in JSON. Writes each result or error as one line."""

import asyncio
import enum
import json
import os
import sys
import typing

import arcade_posthog.tools as tools
from arcade_mcp_server.exceptions import ToolExecutionError


class Context:
    def get_secret(self, key):
        return os.environ[key]


def typed(tool, arguments):
    """Converts strings to enumeration members, as the tool server does."""
    hints = typing.get_type_hints(tool)
    for name, value in arguments.items():
        types = (hints[name], *typing.get_args(hints[name]))
        enums = [one for one in types if isinstance(one, type) and issubclass(one, enum.Enum)]
        yield name, enums[0](value) if enums else value


async def main():
    for line in sys.stdin:
        call = json.loads(line)
        try:
            tool = getattr(tools, call["name"])
            output = {"result": await tool(Context(), **dict(typed(tool, call["arguments"])))}
        except ToolExecutionError as error:
            output = {"error": str(error)}
        print(json.dumps(output), flush=True)


asyncio.run(main())
