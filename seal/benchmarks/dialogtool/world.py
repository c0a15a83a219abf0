"""The world `mobile`: what its apps were asked and answered, and what answers a chat."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import orjson

from seal.benchmarks.dialogtool.api_code import CodeFault, CreatedTools, columns_of
from seal.benchmarks.dialogtool.dialogues import (
    BENCHMARK,
    DONT_CARE,
    RecordedCall,
    asked,
    call_key,
    fold,
)
from seal.benchmarks.dialogtool.tool_life import CREATION, TODAY, UNKNOWN
from seal.core import (
    JSON,
    DataError,
    Execution,
    Goal,
    OptionError,
    Step,
    Tables,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    shortened,
)
from seal.core.consent import consent
from seal.core.environment import Environment, Storeless
from seal.core.statements import Sense
from seal.core.validation import CallValidator, error_result
from seal.core.values import canonical_json, equal, json_text, json_value
from seal.environments.world import WorldSetup, check_options
from seal.sandbox import build_sandbox

# -- What the apps were asked and answered: in the dialogue that is played, and in all of a pool.
#
# The reference of a goal holds the calls of its turn. Each has a result whose content is a list of
# rows as JSON text.
#
# `mobile.json` holds the calls of a whole corpus: {version, apis: {tool id: {rows, calls:
# [[arguments, [places of rows], conflict]]}}}. Calls of one API with equal arguments stand once,
# with what the first of them brought, in the order in which dialogues are read; `conflict` is true
# where others brought something else. Rows are kept as JSON text, each once, so that all splits fit
# in memory. The same calls are the tests of tool creation.

WORLD = "mobile"
"""Where recorded dialogues are played (`seal.benchmarks.dialogtool.world`)."""
BOOKINGS = "bookings"
"""Its table of the calls that changed something: {tool, asked, arguments, result}, in their
order; `asked` has the arguments and defaults as they are compared (`schemas.asked`)."""
FILE = "mobile.json"
"""Of a pool: the calls of its dialogues."""
VERSION = 1
"""Of that file."""
FEWEST_CASES = 2
"""Distinct calls of an API from which a task is made: one to show and one to test."""
Row = dict[str, JSON]


def is_transactional(tool: Tool) -> bool:
    """Tell whether calls of a tool change something."""
    return tool.source.get("transactional") is True


class Call(NamedTuple):
    """A call of a dialogue, as it was recorded."""

    goal: int
    call: ToolCall
    tool: Tool
    rows: list[Row] | None
    """What it brought; None: no result was recorded."""

    @property
    def booked(self) -> bool:
        """Whether it changed something: one that brought nothing did not."""
        return bool(self.rows) and is_transactional(self.tool)


def calls_of(task: Task, tools: Mapping[str, Tool]) -> Iterator[Call]:
    """Yield the recorded calls of a dialogue in their order, from the references of its goals.

    Calls of unknown tools are passed over.

    Raises:
        DataError: A recorded result is no list of rows; names the task.
    """
    for position, goal in enumerate(task.goals):
        brought = {s.result.call_id: s.content for s in goal.reference if s.result is not None}
        for step in goal.reference:
            if step.call is None:
                continue
            content = brought.get(step.call.id)
            rows = None if content is None else _rows(task, step.call, content)
            tool = tools.get(step.call.tool or "")
            if tool is not None:
                yield Call(position, step.call, tool, rows)


def _rows(task: Task, call: ToolCall, content: str) -> list[Row]:
    try:
        rows = json.loads(content)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(
            f"task {task.id}: the recorded result of {call.name} ({call.id}): expected a list of "
            f"rows as JSON, got {shortened(content)}; import the pool again"
        )
    return rows


@dataclass(frozen=True, slots=True)
class Api:
    """What was recorded of one API."""

    table: Sequence[Row]
    """Every row that it ever brought, each once."""
    folded: Sequence[Row]
    """The same rows with values as they are compared."""
    calls: Mapping[bytes, tuple[int, ...]]
    """`call_key` of its arguments to the rows of the answer, by their places in the table. If
    dialogues differ, the first one by id counts."""
    logins: frozenset[bytes]
    """Values of the arguments that its app asks of every call, each map in canonical JSON. They are
    of calls that brought something, for a wrong PIN brings nothing."""


@dataclass(frozen=True, slots=True)
class Recordings:
    """What was recorded of all APIs of a pool."""

    apis: Mapping[str, Api]
    """By tool id."""
    digest: str = ""
    """SHA-256 of the file; empty where a pool has none."""


def folded(row: Row) -> Row:
    """Return a row with values as they are compared."""
    return {name: fold(value) for name, value in row.items()}


def base_required(tool: Tool) -> list[str]:
    """Return the arguments that the app of a tool asks of every call, such as a login."""
    names = tool.source.get("base_required", ())
    return [str(name) for name in names] if isinstance(names, (list, tuple)) else []


def login_of(tool: Tool, arguments: Mapping[str, JSON]) -> bytes:
    """Return the values that a call gives to what its app asks of every call."""
    return canonical_json({name: arguments.get(name) for name in base_required(tool)})


def read_recordings(path: Path | None, tools: Mapping[str, Tool]) -> Recordings:
    """Return what a pool's file of recorded calls holds; nothing where there is no file.

    Args:
        path: `mobile.json`. APIs that are no tools here are passed over, as a drawn pool has fewer.
        tools: The pool, by id.

    Raises:
        DataError: The file is malformed; the text names the place.
    """
    if path is None:
        return Recordings({})
    written = path.read_bytes()
    try:
        content = json_value(written)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON: {error}; import the pool again") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise DataError(
            f"{path}: expected version {VERSION} of recorded calls, got {shortened(content)}; "
            "import the pool again"
        )
    apis = content.get("apis")
    if not isinstance(apis, dict):
        raise DataError(f"{path}: expected apis by tool id; import the pool again")
    known = {name: _api(path, tools[name], api) for name, api in apis.items() if name in tools}
    return Recordings(known, hashlib.sha256(written).hexdigest())


def _api(path: Path, tool: Tool, content: Any) -> Api:
    try:
        table = list(map(dict, content["rows"]))
        calls: dict[bytes, tuple[int, ...]] = {}
        logins = set()
        for arguments, places, _ in content["calls"]:
            if any(not 0 <= place < len(table) for place in places):
                raise ValueError(f"a call names the rows {places} of {len(table)}")
            calls.setdefault(call_key(tool, arguments), tuple(places))
            if places:
                logins.add(login_of(tool, arguments))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: {tool.id}: {error!r}; import the pool again") from error
    return Api(table, list(map(folded, table)), calls, frozenset(logins))


class _Brought(NamedTuple):
    """What a call brought, as `mobile.json` has it."""

    arguments: dict[str, JSON]
    rows: tuple[int, ...]
    conflict: bool


@dataclass(slots=True)
class _Calls:
    """The calls of one API."""

    rows: dict[bytes, int] = field(default_factory=dict)
    """Each row as JSON to its place."""
    calls: dict[bytes, _Brought] = field(default_factory=dict)
    """Arguments as JSON to what the first such call brought."""


class RecordedCalls:
    """The calls of a corpus met so far, by API."""

    def __init__(self) -> None:
        self._apis: dict[str, _Calls] = {}

    def add(self, call: RecordedCall) -> None:
        """Keep a call."""
        api = self._apis.setdefault(call.api.tool, _Calls())
        places = tuple(api.rows.setdefault(row, len(api.rows)) for row in call.rows)
        known = api.calls.setdefault(call.key, _Brought(call.arguments, places, False))
        if known.rows != places:
            api.calls[call.key] = known._replace(conflict=True)

    def mobile(self) -> bytes:
        """Return the content of `mobile.json`."""
        apis = {
            tool: {"rows": list(map(orjson.Fragment, api.rows)), "calls": list(api.calls.values())}
            for tool, api in sorted(self._apis.items())
        }
        return orjson.dumps({"version": VERSION, "apis": apis}, default=list)

    def creation_tasks(self, tools: Mapping[str, Tool], split: str) -> Iterator[Task]:
        """Yield a task of writing its function for each API, in the order of their ids.

        Args:
            tools: By id.
            split: Of the dialogues.
        """
        for tool_id, api in sorted(self._apis.items()):
            if len(api.calls) >= FEWEST_CASES:
                yield _creation_task(tools[tool_id], api, split)


def _creation_task(tool: Tool, api: _Calls, split: str) -> Task:
    service, name = str(tool.source["tool"]), str(tool.source["api"])
    calls = list(api.calls.values())
    text = f"Write the function of the API {name} of {tool.category}: {tool.description}"
    labels: dict[str, JSON] = {"task": CREATION, "tool": tool.id}
    return Task(
        f"{BENCHMARK}/create/{tool.id.partition('/')[2]}",
        BENCHMARK,
        (Goal(text, offered=(tool.id,), labels=labels),),
        split=split,
        tags={"group": CREATION, "split": split, "domain": tool.category, "service": service},
        metadata={
            "table": [json_value(row) for row in api.rows],
            "cases": [[call.arguments, list(call.rows)] for call in calls],
            "example": next((n for n, call in enumerate(calls) if call.rows), 0),
        },
    )


# -- The world `mobile`: the apps of a dialogue, one mobile a chat.
#
# Same input, same output (`-T mobile=exact`), or the app's table filtered (`-T mobile=filter`). A
# call runs only if all that its app and its API require is filled. A `?` stands for what is not
# known: then nothing is run. A call that changes something runs only after the user has confirmed
# just these arguments. What was said in the chat decides, or that the dialogue's own user confirmed
# them (label `confirmed` of a goal). `-T confirm=false` asks for no confirmation.
#
# To confirm a call the agent must have said every one of its arguments, and the user's next word
# must allow just that (`seal.core.consent`). An argument is said by the rules of
# `seal.core.statements`: dates and times in whatever form, 2019-03-08 as "March 8th", 17:30 as
# "5:30 pm".
#
# The answer to a call is the recorded one, or rows of the app's table, or what a function brings
# that a model wrote (`-T tools=created`). Such functions run in a sandbox. Bookings stand in the
# table `bookings` and change later answers. A look-up of the same app shows a booking, such as a
# new alarm among the alarms. The booking must have brought all that the look-up brings (its result
# slots). `new_` before a name does not count: by it SGD tells what is to be from what is.
#
# Source: DialogTool (2025), virtual mobile environment; rules of AppBench's environment.

MOST = 10
"""Rows that a look-up brings at most, as in the recorded dialogues."""
CREATED = "created_"
"""Begins the kind of a refusal by a function: `created_timeout`, `created_no_function`."""
_Key = tuple[str, bytes]
"""Tool id and what equal calls have in common."""


class RefusedError(Exception):
    """There is no answer, and the model is told why.

    Args:
        kind: Of the reason, in one word.
        message: For the model.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


@dataclass
class Answers(ABC):
    """Finds the answers of one chat.

    Args:
        recordings: Of the pool: the tables, and the logins that an app takes.
        tools: The pool, by id.
    """

    recordings: Recordings
    tools: Mapping[str, Tool]

    def begin(self, goal: int) -> None:  # noqa: B027 (most answers depend on no goal)
        """Take note that the chat about a goal begins."""

    @abstractmethod
    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row]:
        """Return the rows that a right call brings, best first; empty: it found or did nothing.

        Args:
            tool: That is called.
            arguments: Right ones.
            bookings: The table `recordings.BOOKINGS`.

        Raises:
            RefusedError: Nothing is known of such a call, or it failed.
        """

    def open(self, tool: Tool, arguments: Mapping[str, JSON]) -> Api:
        """Return what was recorded of a tool.

        Raises:
            RefusedError: Nothing was, or its app does not take the login of the call.
        """
        api = self.recordings.apis.get(tool.id)
        if api is None:
            raise RefusedError("not_recorded", f"No answer of {tool.name} was recorded.")
        if base_required(tool) and login_of(tool, arguments) not in api.logins:
            told = f"there is no account with this {', '.join(base_required(tool))}."
            raise RefusedError("unauthorised", f"{tool.name}: {told}")
        return api

    def shown(self, tool: Tool, bookings: Sequence[Row]) -> Iterator[Row]:
        """Yield the rows of a look-up that bookings brought about."""
        wanted = columns_of(tool)
        for booking in bookings:
            made = self.tools.get(str(booking["tool"]))
            if made is None or _app(made) != _app(tool) or not wanted:
                continue
            told = (booking["arguments"], booking["result"])
            pairs = (pair for row in told if isinstance(row, dict) for pair in row.items())
            values = {_plain(name): value for name, value in pairs}
            if all(_plain(slot) in values for slot in wanted):
                yield {slot: values[_plain(slot)] for slot in wanted}


def _app(tool: Tool) -> str:
    """Return the app, in the variant of the dialogue, that a tool belongs to."""
    return str(tool.source.get("tool", tool.category))


def _plain(name: str) -> str:
    return name.removeprefix("new_")


@dataclass
class Exact(Answers):
    """The recorded answer: same input, same output.

    The dialogue's own calls come first. Of equal ones that of the played goal counts. Else the n-th
    in the dialogue answers when the call is made for the n-th time, and the last one any further
    time. Then what other dialogues recorded. What was never recorded is refused, unless a booking
    shows in it.

    Args:
        task: The dialogue.
    """

    task: Task
    _own: defaultdict[_Key, list[Call]] = field(default_factory=lambda: defaultdict(list))
    _made: Counter[_Key] = field(default_factory=Counter)
    _goal: int | None = None

    def __post_init__(self) -> None:
        """Read the dialogue's own calls."""
        for call in calls_of(self.task, self.tools):
            if call.rows is not None:
                key = call_key(call.tool, call.call.arguments or {})
                self._own[call.tool.id, key].append(call)

    def begin(self, goal: int) -> None:
        """Take note of the goal; what gold did before the first one counts as made."""
        if self._goal is None:
            for key, calls in self._own.items():
                self._made[key] = sum(call.goal < goal for call in calls)
        self._goal = goal

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row]:
        """Return the recorded rows."""
        key = tool.id, call_key(tool, arguments)
        calls = self._own.get(key)
        if calls:
            nth = min(self._made[key], len(calls) - 1)
            self._made[key] += 1
            here = [call for call in calls if call.goal == (self._goal or 0)]
            (found,) = here if len(here) == 1 else calls[nth : nth + 1]
            return [dict(row) for row in found.rows or ()]
        seen = list(self.shown(tool, bookings))
        api = self.recordings.apis.get(tool.id)
        places = None if api is None else api.calls.get(key[1])
        if (api is None or places is None) and not seen:
            raise RefusedError("not_recorded", f"No answer of {tool.name} to this was recorded.")
        rows = [] if api is None else [dict(api.table[place]) for place in places or ()]
        return _joined(rows, seen, arguments)


class Filtered(Answers):
    """Rows of the app's table: those with the required arguments, and the optional ones given.

    Arguments that are no column of the table, such as the number of seats, choose nothing. A
    booking brings the rows that were recorded for such arguments. Else it brings what a look-up of
    its app has, with the arguments. If its app looks nothing up, it brings the arguments alone. An
    app that asks for a login takes those that were recorded.
    """

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row]:
        """Return at most `MOST` rows in the order of the table."""
        api = self.open(tool, arguments)
        own = {name: v for name, v in arguments.items() if name not in base_required(tool)}
        found = _joined(_fitting(api, own), self.shown(tool, bookings), own)
        if not found and is_transactional(tool):
            found = list(self._made(tool, own))
        return found[:MOST]

    def _made(self, tool: Tool, arguments: Mapping[str, JSON]) -> Iterator[Row]:
        """Yield the row of a booking that nobody recorded."""
        slots = columns_of(tool)
        given = {name: value for name, value in arguments.items() if name in slots}
        looked_up = False
        for other_id, api in self.recordings.apis.items():
            other = self.tools[other_id]
            if _app(other) != _app(tool) or is_transactional(other):
                continue
            shared = {name: v for name, v in arguments.items() if name in columns_of(other)}
            if not shared or not api.table:
                continue
            looked_up = True
            for row in _fitting(api, shared)[:1]:
                yield {name: v for name, v in {**row, **given}.items() if name in slots}
                return
        if not looked_up and given:
            yield given


@dataclass
class Created(Answers):
    """Rows that an API's created function chooses from its table and what bookings show in it.

    Args:
        created: The functions, in their sandbox.
    """

    created: CreatedTools

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row]:
        """Return the function's rows; where it fails, how."""
        api = self.open(tool, arguments)
        found = self.created.call(tool, arguments, [*api.table, *self.shown(tool, bookings)])
        if isinstance(found, CodeFault):
            raise RefusedError(f"{CREATED}{found.status}", f"{tool.name} failed: {found.message}")
        return found


def _wanted(arguments: Mapping[str, JSON]) -> Row:
    """Return what a row must have, as values are compared."""
    return {n: fold(v) for n, v in arguments.items() if fold(v) != DONT_CARE}


def _fits(row: Row, wanted: Row) -> bool:
    """Tell whether those columns of a folded row that are asked for are as wanted."""
    return all(name not in row or row[name] == value for name, value in wanted.items())


def _fitting(api: Api, arguments: Mapping[str, JSON]) -> list[Row]:
    """Return the rows of an API's table whose columns are as the arguments say."""
    wanted = _wanted(arguments)
    pairs = zip(api.table, api.folded, strict=True)
    return [dict(row) for row, compared in pairs if _fits(compared, wanted)]


def _joined(rows: Iterable[Row], seen: Iterable[Row], arguments: Mapping[str, JSON]) -> list[Row]:
    """Return rows, and after them those that bookings show and that fit, each once."""
    joined = list(rows)
    wanted = _wanted(arguments)
    for row in seen:
        if _fits(folded(row), wanted) and not any(equal(row, other) for other in joined):
            joined.append(row)
    return joined


Way = Literal["exact", "filter"]
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
    recordings = read_recordings(setup.file(FILE), setup.tools)
    created = None
    if setup.creator is not None:
        created = CreatedTools(build_sandbox(setup.sandbox), setup.creator)
    return Mobiles(CallValidator(setup.tools), recordings, way, confirm, created)


class Mobile:
    """The mobile of one chat.

    Args:
        run: The rules of the run's mobiles.
        task: Its goals say what the user confirmed in the dialogue.
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
        given = dict(call.arguments or {})
        try:
            if tool is not None and call.arguments is not None:
                _check_known(tool, call, given)
            wrong = self._run.validator.check(call, self._offered)
            if wrong is not None:
                return error_result(call, wrong)
            if tool is None or call.arguments is None:
                raise RefusedError("unparsable_arguments", "The call cannot be read.")
            if self._run.confirm and is_transactional(tool) and not self._confirmed(tool, given):
                raise RefusedError(
                    "not_confirmed",
                    f"{call.name} was not run: the user has not confirmed these arguments. Tell "
                    "the user all of them, and ask whether they are right.",
                )
            rows = self._answers.answer(tool, given, self._bookings)
        except RefusedError as why:
            content = json_text({"error": str(why), "response": []})
            return ToolResult(call.id, content, {"kind": why.kind, "message": str(why)})
        if rows and is_transactional(tool):
            booking: Row = {
                "tool": tool.id,
                "asked": asked(tool, given),
                "arguments": given,
                "result": rows[0],
            }
            self._bookings = [*self._bookings, booking]
        return ToolResult(call.id, json_text(rows), value=rows, executed=Execution(tool.id, given))

    def _confirmed(self, tool: Tool, arguments: Mapping[str, JSON]) -> bool:
        label = self._task.goals[self._goal].labels.get("confirmed")
        if isinstance(label, dict) and call_key(tool, label) == call_key(tool, arguments):
            return True
        return consent(self._heard, arguments, {}, Sense(today=_TODAY)) is not None


def _check_known(tool: Tool, call: ToolCall, given: Mapping[str, JSON]) -> None:
    """Make sure that a call has each value that it needs.

    Raises:
        RefusedError: One is missing or unknown.
    """
    required = tool.parameters.get("required", ())
    unknown = {name for name, value in given.items() if value == UNKNOWN}
    missing = [name for name in required if name not in given or name in unknown]
    missing += sorted(unknown - {*missing})
    if missing:
        message = f"{call.name} was not run: it needs {', '.join(missing)}. Ask the user."
        raise RefusedError("missing_argument", message)
