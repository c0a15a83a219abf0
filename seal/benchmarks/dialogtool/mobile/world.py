"""The world `mobile`: the apps of a dialogue, one mobile a chat.

Same input, same output (`-T mobile=exact`), or the app's table filtered (`-T mobile=filter`). A
call runs only where all that its app and its API require is filled: a `?` stands for what is not
known, and nothing is run. A call that changes something runs only after the user has confirmed just
these arguments: what was said in the chat decides, or that the dialogue's own user confirmed them
(label `confirmed` of a goal); `-T confirm=false` asks for no confirmation. Its effect stands in the
table `bookings` and shows in later look-ups (`effects`).

`--tools created` lets functions that a model wrote answer, in a sandbox (`created`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from seal.benchmarks.dialogtool.call_keys import asked, call_key
from seal.benchmarks.dialogtool.mobile.answers import Answering, Exact, Filtered, Refusal
from seal.benchmarks.dialogtool.mobile.calls import BOOKINGS, WORLD, is_transactional
from seal.benchmarks.dialogtool.mobile.created import Created
from seal.benchmarks.dialogtool.mobile.recordings import Recordings, Row, calls_of, read_recordings
from seal.benchmarks.dialogtool.mobile.spoken import confirmed
from seal.benchmarks.dialogtool.tool_life import UNKNOWN
from seal.core.environment import Environment, Storeless
from seal.core.errors import OptionError
from seal.core.plain import json_text
from seal.core.types import (
    JSON,
    Execution,
    Step,
    Tables,
    Task,
    Tool,
    ToolCall,
    ToolResult,
)
from seal.core.validation import CallValidator, error_result
from seal.environments.world import WorldSetup, check_options
from seal.sandbox import build_sandbox
from seal.sandbox.created import CreatedTools

Way = Literal["exact", "filter"]


@dataclass(frozen=True, slots=True)
class Mobiles(Storeless):
    """Opens the mobile of each chat. Safe in threads.

    Args:
        validator: The rules of calls, with the pool.
        recordings: Of the pool.
        way: How answers are found.
        confirm: Whether what changes something must be confirmed.
    """

    validator: CallValidator
    recordings: Recordings
    way: Way = "exact"
    confirm: bool = True
    created: CreatedTools | None = None
    """Functions that answer instead; None: what was recorded does."""

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the mobile of one chat."""
        return Mobile(task, self.validator, self._answering(task), offered, self.confirm)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The pool, by id."""
        return self.validator.tools

    def _answering(self, task: Task) -> Answering:
        if self.created is not None:
            return Created(self.created, self.recordings, self.tools)
        if self.way == "filter":
            return Filtered(self.recordings, self.tools)
        return Exact(calls_of(task, self.tools), self.recordings, self.tools)

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers besides the tasks."""
        identity: dict[str, JSON] = {
            "world": WORLD,
            "mobile": self.way,
            "confirm": self.confirm,
            "recordings": self.recordings.digest,
        }
        if self.created is not None:
            identity |= {"tools": "created", "sandbox": self.created.sandbox.identity()}
        return identity


def mobile(setup: WorldSetup) -> Mobiles:
    """Return what opens mobiles under the settings of a run.

    Raises:
        OptionError: An option is unknown or has a value that it cannot have.
        DataError: The recordings of the pool are malformed.
        UsageError: Created tools are asked for, and their sandbox cannot be used here.
    """
    check_options(WORLD, setup, ("mobile", "confirm"))
    way = setup.options.get("mobile", "exact")
    if way not in get_args(Way):
        raise OptionError(f"-T mobile={way!r}: expected one of {', '.join(get_args(Way))}")
    confirm = setup.options.get("confirm", True)
    if not isinstance(confirm, bool):
        raise OptionError(f"-T confirm={confirm!r}: expected true or false")
    return Mobiles(
        CallValidator(setup.tools),
        read_recordings(setup.mobile, setup.tools),
        way,
        confirm,
        _created(setup),
    )


def _created(setup: WorldSetup) -> CreatedTools | None:
    """Return the created tools where somebody creates them."""
    if setup.creator is None:
        return None
    return CreatedTools(build_sandbox(setup.sandbox), setup.creator)


class Mobile:
    """The mobile of one chat.

    Args:
        task: Whose goals say what the user confirmed in the dialogue.
        validator: The rules of calls, with the pool.
        answers: Finds what a call brings.
        offered: Names of the offered tools, for messages; a list may grow during the chat.
        confirm: Whether what changes something must be confirmed.
    """

    def __init__(
        self,
        task: Task,
        validator: CallValidator,
        answers: Answering,
        offered: Sequence[str] = (),
        confirm: bool = True,
    ) -> None:
        self._task = task
        self._tools = validator.tools
        self._answers = answers
        self._offered = offered
        self._confirm = confirm
        self._validator = validator
        self._heard: list[Step] = []
        self._bookings: list[Row] = list((task.initial_state or {}).get(BOOKINGS, ()))
        self._states: list[Tables] = []
        self._goal = 0

    def begin(self, goal: int) -> None:
        """Take note that the chat about a goal begins."""
        self._goal = goal
        self._answers.begin(goal)

    def hear(self, step: Step) -> None:
        """Take note of what was said."""
        self._heard.append(step)

    def states(self) -> Sequence[Tables]:
        """Return the bookings after each result of the last `call`, else as they are, alone."""
        return list(self._states) or [{BOOKINGS: self._bookings}]

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in their order."""
        self._states = []
        results = []
        for call in calls:
            results.append(self._result(call))
            self._states.append({BOOKINGS: self._bookings})
        return results

    def _result(self, call: ToolCall) -> ToolResult:
        tool = self._tools.get(call.tool or "")
        if tool is None or call.arguments is None:
            wrong = self._validator.check(call, self._offered)
            return error_result(call, wrong) if wrong else _refused(call, _ODD)
        refusal = self._refusal(tool, call)
        if refusal is not None:
            return refusal
        given = dict(call.arguments)
        rows = self._answers.answer(tool, given, self._bookings)
        if isinstance(rows, Refusal):
            return _refused(call, rows)
        if rows and is_transactional(tool):
            booking: Row = {
                "tool": tool.id,
                "asked": asked(tool, given),
                "arguments": given,
                "result": rows[0],
            }
            self._bookings = [*self._bookings, booking]
        return ToolResult(call.id, json_text(rows), value=rows, executed=Execution(tool.id, given))

    def _refusal(self, tool: Tool, call: ToolCall) -> ToolResult | None:
        """Return why a call is not run; None where it may be."""
        given: dict[str, JSON] = call.arguments or {}
        required = tool.parameters.get("required", ())
        unknown = {name for name, value in given.items() if value == UNKNOWN}
        missing = [name for name in required if name not in given or name in unknown]
        missing += sorted(unknown - {*missing})
        if missing:
            message = f"{call.name} was not run: it needs {', '.join(missing)}. Ask the user."
            return _refused(call, Refusal("missing_argument", message))
        wrong = self._validator.check(call, self._offered)
        if wrong is not None:
            return error_result(call, wrong)
        if self._confirm and is_transactional(tool) and not self._confirmed(tool, given):
            message = (
                f"{call.name} was not run: the user has not confirmed these arguments. Tell the "
                "user all of them, and ask whether they are right."
            )
            return _refused(call, Refusal("not_confirmed", message))
        return None

    def _confirmed(self, tool: Tool, arguments: Mapping[str, JSON]) -> bool:
        label = self._task.goals[self._goal].labels.get("confirmed")
        if isinstance(label, dict) and call_key(tool, label) == call_key(tool, arguments):
            return True
        return confirmed(self._heard, arguments)


_ODD = Refusal("unparsable_arguments", "The call cannot be read.")


def _refused(call: ToolCall, why: Refusal) -> ToolResult:
    content = json_text({"error": why.message, "response": []})
    return ToolResult(call.id, content, {"kind": why.kind, "message": why.message})


__all__ = ["Mobile", "Mobiles", "mobile"]
