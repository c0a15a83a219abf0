"""The world `mobile`: the apps of a dialogue, one mobile a chat.

Same input, same output (`-T mobile=exact`), or the app's table filtered (`-T mobile=filter`). A
call runs only where all that its app and its API require is filled: a `?` stands for what is not
known, and nothing is run. A call that changes something runs only after the user has confirmed just
these arguments: what was said in the chat decides, or that the dialogue's own user confirmed them
(label `confirmed` of a goal); `-T confirm=false` asks for no confirmation. Its effect stands in the
table `bookings` and shows in later look-ups (`answers`).

To confirm a call the agent must have said every one of its arguments, and the user's next word must
allow just that (`seal.core.confirmation`). An argument is said by the rules of `seal.core.stated`:
dates and times in whatever form, 2019-03-08 as "March 8th", 17:30 as "5:30 pm".

`--tools created` lets functions that a model wrote answer, in a sandbox.

Source: DialogTool (2025), virtual mobile environment; rules of AppBench's environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from seal.benchmarks.dialogtool.call_keys import asked, call_key
from seal.benchmarks.dialogtool.mobile.answers import Answers, Created, Exact, Filtered, Refusal
from seal.benchmarks.dialogtool.mobile.recordings import (
    BOOKINGS,
    WORLD,
    Recordings,
    Row,
    is_transactional,
    read_recordings,
)
from seal.benchmarks.dialogtool.tool_life import TODAY, UNKNOWN
from seal.core import JSON, Execution, OptionError, Step, Tables, Task, Tool, ToolCall, ToolResult
from seal.core.confirmation import confirmation, exchanges
from seal.core.environment import Environment, Storeless
from seal.core.plain import json_text
from seal.core.validation import CallValidator, error_result
from seal.environments.world import WorldSetup, check_options
from seal.sandbox import build_sandbox
from seal.sandbox.functions import CreatedTools

Way = Literal["exact", "filter"]
_ODD = Refusal("unparsable_arguments", "The call cannot be read.")
_TODAY = date.fromisoformat(TODAY)


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
        known = self.recordings, self.validator.tools
        if self.created is not None:
            return Mobile(self, task, Created(*known, self.created), offered)
        answers = Filtered(*known) if self.way == "filter" else Exact(*known, task)
        return Mobile(self, task, answers, offered)

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
    recordings = read_recordings(setup.mobile, setup.tools)
    created = None
    if setup.creator is not None:
        created = CreatedTools(build_sandbox(setup.sandbox), setup.creator)
    return Mobiles(CallValidator(setup.tools), recordings, way, confirm, created)


class Mobile:
    """The mobile of one chat.

    Args:
        run: The rules of the run's mobiles.
        task: Whose goals say what the user confirmed in the dialogue.
        answers: Finds what a call brings.
        offered: Names of the offered tools, for messages; a list may grow during the chat.
    """

    def __init__(self, run: Mobiles, task: Task, answers: Answers, offered: Sequence[str]) -> None:
        self._run = run
        self._task = task
        self._answers = answers
        self._offered = offered
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
        tool = self._run.validator.tools.get(call.tool or "")
        if tool is None or call.arguments is None:
            wrong = self._run.validator.check(call, self._offered)
            return error_result(call, wrong) if wrong else _refused(call, _ODD)
        given = dict(call.arguments)
        refusal = self._refusal(tool, call, given)
        if refusal is not None:
            return refusal
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

    def _refusal(self, tool: Tool, call: ToolCall, given: dict[str, JSON]) -> ToolResult | None:
        """Return why a call is not run; None where it may be."""
        required = tool.parameters.get("required", ())
        unknown = {name for name, value in given.items() if value == UNKNOWN}
        missing = [name for name in required if name not in given or name in unknown]
        missing += sorted(unknown - {*missing})
        if missing:
            message = f"{call.name} was not run: it needs {', '.join(missing)}. Ask the user."
            return _refused(call, Refusal("missing_argument", message))
        wrong = self._run.validator.check(call, self._offered)
        if wrong is not None:
            return error_result(call, wrong)
        if self._run.confirm and is_transactional(tool) and not self._confirmed(tool, given):
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
        said = exchanges(self._heard)
        return confirmation(said, arguments, {}, today=_TODAY) is not None


def _refused(call: ToolCall, why: Refusal) -> ToolResult:
    content = json_text({"error": why.message, "response": []})
    return ToolResult(call.id, content, {"kind": why.kind, "message": why.message})
