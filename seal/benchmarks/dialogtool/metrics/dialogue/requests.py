"""Was the right API requested, and with the right arguments?

Selection counts decisions: a due API that was requested and a turn rightly left without a request
are right; a wrong API, one that is missing, a request that cannot be read and one too many are
wrong. As published an API is right by its app and name, in any case; exactly, it is the very one,
and the turn is right only as a whole. Recall is over the turns on which an API is due.

Execution is over the turns on which an API was due and one was requested. As published each gold
argument must be there with a value that contains the gold one or is contained in it, in any case,
and whatever else was given is passed over; where arguments are missing, one `?` for one of them is
enough. Exactly: the same names, each value equal to one that gold accepts, `?` for all that are
missing. Source: DialogTool, section 4; AppBench's code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from seal.benchmarks.dialogtool.metrics.dialogue.awareness import NOT_SEATED
from seal.benchmarks.dialogtool.metrics.dialogue.turns import Turn
from seal.benchmarks.dialogtool.tool_life import REQUESTER, UNKNOWN
from seal.core.conditions import Argument, Called
from seal.core.types import JSON, Tool, ToolCall
from seal.evaluation.goals import Value, undefined

SelectionError = Literal["api_error", "parse_error", "unnecessary_call", "missing_call"]
ExecutionError = Literal["api_error", "argument_matching_error", "missing_argument_error"]
NAMES = (
    "selection",
    "selection_exact",
    "selection_recall",
    "selection_recall_exact",
    "execution",
    "execution_exact",
)

_APP = re.compile(r"\s*\[\s*([^\[\]():]*?)\s*\]")
"""An app that is named first, where APIs are offered by their apps."""
_DATES = frozenset({"date", "day"})
_PLACES = frozenset(
    {
        *("address", "airport", "area", "city", "destination", "from", "leaving", "location"),
        *("origin", "place", "station", "street", "to", "town", "venue", "where"),
    }
)
"""Words of the names of arguments that hold places, divided by underscores."""


def requests(turn: Turn, tools: Mapping[str, Tool]) -> dict[str, Value]:
    """Return the value of each of `NAMES`."""
    if REQUESTER not in turn.seated:
        return dict.fromkeys(NAMES, undefined(f"{NOT_SEATED}: {REQUESTER}"))
    made = turn.calls(REQUESTER)
    near, very = (_chosen(turn, made, tools, exact) for exact in (False, True))
    return {
        "selection": _selection(turn, near, tools),
        "selection_exact": _selection_exact(turn, very, tools),
        "selection_recall": _recall(near),
        "selection_recall_exact": _recall(very),
        "execution": _execution(turn, near, tools, exact=False),
        "execution_exact": _execution(turn, very, tools, exact=True),
    }


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The requests of a turn beside the one that is due."""

    due: Called | None
    right: ToolCall | None
    """The request of the API that is due."""
    others: Sequence[ToolCall]

    def errors(self) -> Iterator[SelectionError]:
        """Yield what is wrong, a word a wrong decision."""
        others = list(self.others)
        if self.due is not None and self.right is None:
            stands = next((call for call in others if call.arguments is not None), None)
            if stands is not None:
                others.remove(stands)
                yield "api_error"
            elif others:
                others.pop(0)
                yield "parse_error"
            else:
                yield "missing_call"
        for call in others:
            yield "parse_error" if call.arguments is None else "unnecessary_call"


def _chosen(
    turn: Turn, made: Sequence[ToolCall], tools: Mapping[str, Tool], exact: bool
) -> _Chosen:
    due = turn.due
    if due is None:
        return _Chosen(None, None, made)
    wanted = tools.get(due.tool)
    for place, call in enumerate(made):
        same = call.tool == due.tool or (not exact and _means(call, wanted, tools))
        if call.arguments is not None and same:
            return _Chosen(due, call, [*made[:place], *made[place + 1 :]])
    return _Chosen(due, None, made)


def _means(call: ToolCall, wanted: Tool | None, tools: Mapping[str, Tool]) -> bool:
    """Tell whether a request has app and API of a tool, or its API where no app was named."""
    if wanted is None:
        return False
    called = tools.get(call.tool or "")
    if called is not None:
        return _name(called) == _name(wanted)
    app, _, api = call.name.rpartition(":")
    return (app.strip().casefold() or _name(wanted)[0], api.strip().casefold()) == _name(wanted)


def _name(tool: Tool) -> tuple[str, str]:
    return tool.category.casefold(), str(tool.source.get("api", tool.name)).casefold()


def _selection(turn: Turn, chosen: _Chosen, tools: Mapping[str, Tool]) -> Value:
    errors = list(chosen.errors())
    right = int(chosen.right is not None or (chosen.due is None and not errors))
    counted = right + len(errors)
    return Value(right / counted, counted, details=_told(turn, chosen, errors, tools))


def _selection_exact(turn: Turn, chosen: _Chosen, tools: Mapping[str, Tool]) -> Value:
    errors = list(chosen.errors())
    return Value(float(not errors), details=_told(turn, chosen, errors, tools))


def _told(
    turn: Turn, chosen: _Chosen, errors: Sequence[str], tools: Mapping[str, Tool]
) -> dict[str, JSON]:
    told: dict[str, JSON] = {"kind": turn.kind}
    if chosen.due is not None:
        told["api"] = api_name(chosen.due.tool, tools)
        told["app"] = _names_app(turn, tools.get(chosen.due.tool), tools)
    if errors:
        told["errors"] = list(errors)
    needless = chosen.due is None or chosen.right is not None
    unneeded = [c for c in chosen.others if needless and c.arguments is not None]
    if unneeded:
        told["unnecessary"] = [api_name(c.tool, tools) if c.tool else c.name for c in unneeded]
    return told


def _names_app(turn: Turn, wanted: Tool | None, tools: Mapping[str, Tool]) -> bool:
    """Tell whether the app of a tool was named, by a request or alone, `[Restaurants]`."""
    if wanted is None:
        return False
    named = [_APP.match(step.content) for step in turn.steps if step.author == REQUESTER]
    apps = {found[1].casefold() for found in named if found}
    for call in turn.calls(REQUESTER):
        called = tools.get(call.tool or "")
        app = call.name.rpartition(":")[0] if called is None else called.category
        apps.add(app.strip().casefold())
    return wanted.category.casefold() in apps


def api_name(tool: str, tools: Mapping[str, Tool]) -> str:
    """Return app and API of a tool, `Restaurants: findrestaurants`; its id where it is unknown."""
    found = tools.get(tool)
    if found is None:
        return tool
    return f"{found.category}: {str(found.source.get('api', found.name)).lower()}"


def _recall(chosen: _Chosen) -> Value:
    if chosen.due is None:
        return undefined("no API is due")
    return Value(float(chosen.right is not None))


def _execution(turn: Turn, chosen: _Chosen, tools: Mapping[str, Tool], exact: bool) -> Value:
    if chosen.due is None:
        return undefined("no API is due")
    if all(call.arguments is None for call in (chosen.right, *chosen.others) if call is not None):
        return undefined("no API was requested")
    told: dict[str, JSON] = {"kind": turn.kind, "api": api_name(chosen.due.tool, tools)}
    if chosen.right is None:
        return Value(0.0, details={**told, "error": "api_error"})
    given = chosen.right.arguments or {}
    told |= differences(chosen.due, given)
    if exact:
        right = chosen.due.accepts(given)
    elif turn.missing:
        right = any(given.get(name) == UNKNOWN for name in turn.missing)
    else:
        right = all(_near(gold, given.get(n)) for n, gold in (chosen.due.arguments or {}).items())
    if not right:
        asked = turn.missing and not any(given.get(name) == UNKNOWN for name in turn.missing)
        kind: ExecutionError = "missing_argument_error" if asked else "argument_matching_error"
        told["error"] = kind
    return Value(float(right), details=told)


def _near(gold: Argument, value: JSON) -> bool:
    """Tell whether a value contains an accepted one or is contained in it, in any case."""
    if value is None:
        return gold.optional
    said = _text(value)
    return gold.values is None or any(
        said in accepted or accepted in said for accepted in map(_text, gold.values)
    )


def _text(value: JSON) -> str:
    return str(value).lower()


def differences(gold: Called, given: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the names of arguments that are missing, extra, or have another value than gold.

    Of the last, `dates` and `places` count those that hold a date or a place, as their names say.
    """
    wanted = gold.arguments or {}
    missing = [name for name, one in wanted.items() if name not in given and not one.optional]
    extra = [name for name in given if name not in wanted]
    wrong = [n for n, one in wanted.items() if n in given and not one.accepts(given[n])]
    words = [set(name.lower().split("_")) for name in wrong]
    return {
        "missing": list(missing),
        "extra": list(extra),
        "mismatch": list(wrong),
        "dates": sum(not _DATES.isdisjoint(name) for name in words),
        "places": sum(not _PLACES.isdisjoint(name) for name in words),
    }
