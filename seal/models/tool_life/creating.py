"""A tool's function written by rule: the rows whose columns are what the arguments say."""

from __future__ import annotations

import re

from seal.core.protocols import Completion, Request

_SIGNATURE = re.compile(r"^def (?P<name>\w+)\((?P<parameters>[^)]*)\)(?:\s*->[^:]*)?:\s*$", re.M)
_FILTER = """\
def {name}({parameters}):
    given = {{{given}}}
    rows = []
    for row in {table}:
        fits = True
        for column, value in given.items():
            if value is None or value == "dontcare" or column not in row:
                continue
            if row[column] != value:
                fits = False
        if fits:
            rows.append(row)
    return rows
"""
_EVERYTHING = "def {name}({parameters}):\n    return {table}\n"


def create(request: Request) -> Completion:
    """Return a function that filters the table by the arguments which are columns of it."""
    return Completion(_written(request, _FILTER))


def create_blindly(request: Request) -> Completion:
    """Return a function that brings every row."""
    return Completion(_written(request, _EVERYTHING))


def _written(request: Request, template: str) -> str:
    """Return a function with the first line that the prompt gives; empty where it gives none."""
    found = _SIGNATURE.search(request.messages[0].content)
    if found is None:
        return ""
    parameters = [part.strip() for part in found["parameters"].split(",")]
    table, *names = (part.partition("=")[0].partition(":")[0].strip() for part in parameters)
    given = ", ".join(f'"{name}": {name}' for name in names)
    return template.format(
        name=found["name"], parameters=found["parameters"], table=table, given=given
    )
