"""Phones by the chat and their options, and phones with timers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from seal.benchmarks.toolsandbox.phone import TOOLS, device
from seal.benchmarks.toolsandbox.phone.device import (
    BEGINNING,
    COLUMNS,
    FILE,
    PhoneWorld,
    RecordedWeb,
    SimulatedWeb,
    WebAnswers,
    check_beginning,
    recorded_web,
)
from seal.core import JSON, DataError, OptionError, Tables, Task, Trajectory, UsageError
from seal.environments.function_tools import NOT_GIVEN, NotGiven, WorldTool, effects
from seal.environments.tables import NoDataError, Row, between, like, where, without
from seal.environments.world import Worlds, WorldSetup, check_options, toolbox

# -- Phones by the chat: the factory that opens them, and its options.

ASKING = "phone/rapid_api_search_tools/"
"""How the ids of the tools begin that ask the web."""
SIMULATOR = "simulator"
"""Value of the option `web` that lets the run's simulator answer."""


def phone(setup: WorldSetup) -> Phones:
    """Return the phones of a run.

    Args:
        setup: Of which the options are `race` (`seal.environments.chat_world.Race`); `web`: a
            file of recorded answers (`RecordedWeb`), or `simulator`; else those of the pool serve,
            or the shipped ones.

    Raises:
        OptionError: An option is unknown or has a value that it cannot have.
        DataError: The file is not what it must be.
        UsageError: The simulator is to answer, and the run has none.
    """
    check_options("phone", setup, ("race", "web"))
    web = _web(setup)
    phones = Phones(
        name="phone",
        tools=TOOLS,
        tables=BEGINNING,
        columns=COLUMNS,
        make=lambda tools, given: PhoneWorld(tools, given, web()),
        goals=("seal.benchmarks.toolsandbox.phone.goals:GOALS",),
        web=web,
    )
    others = {n: value for n, value in setup.options.items() if n != "web"}
    return phones.under(replace(setup, options=others))


def phones_of(web: RecordedWeb) -> Phones:
    """Return phones whose web gives these answers."""
    made = phone(WorldSetup())
    return replace(made, make=lambda tools, given: PhoneWorld(tools, given, web), web=lambda: web)


@dataclass(frozen=True, kw_only=True)
class Phones(Worlds):
    """Opens a phone for each chat."""

    web: Callable[[], WebAnswers]
    """Gives what answers the tools of one chat that ask the web."""

    def beginning(self, task: Task) -> Tables:
        """Return the tables that a task's phone begins with.

        Raises:
            DataError: As of any world; or there is not one row of settings.
        """
        tables = super().beginning(task)
        if len(tables["settings"]) != 1:
            raise DataError(
                f"task {task.id}: settings has {len(tables['settings'])} rows; expected one row "
                "only"
            )
        return tables

    def check(self, task: Task) -> None:
        """Make sure that a task's phone can be opened, and that there can be such a phone.

        Raises:
            DataError: As of `beginning` and any clock; or a row is there that no call could bring
                about (`check_beginning`).
        """
        super().check(task)
        try:
            check_beginning(self.beginning(task))
        except ValueError as error:
            raise DataError(f"task {task.id}: {error}") from error

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers."""
        # Earlier versions could tell more in the texts of tools; their plain runs go on.
        own = {"web": self.web().identity(), "descriptions": "plain"}
        return {**super().identity(), **own}

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return the keys of the simulator's stored answers that a finished chat was given."""
        web, keys = self.web(), self.setup.keys_of_call
        recorded = isinstance(web, RecordedWeb)
        simulated = web.simulated if isinstance(web, RecordedWeb) else web
        if keys is None or not isinstance(simulated, SimulatedWeb):
            return set()
        # Where the phone is, as the trajectory's first step shows.
        tables = next((step.state for step in trajectory.steps if step.state), {})
        here: dict[str, JSON] = next(iter(tables.get("settings", ())), {})
        results = (step.result for step in trajectory.steps if step.result)
        executed = (result.executed for result in results if result.unrecorded or not recorded)
        return {
            key
            for run in executed
            if run is not None and run.tool.startswith(ASKING)
            for key in keys(
                simulated.simulator,
                self.tools[run.tool].document,
                {name: here.get(name) if v is None else v for name, v in run.arguments.items()},
            )
        }


def _web(setup: WorldSetup) -> Callable[[], WebAnswers]:
    option = setup.options.get("web")
    if option == SIMULATOR:
        return _simulated(setup, "-T web=simulator")
    if option is not None and not isinstance(option, str):
        raise OptionError(f"-T web={option!r}: expected a file of recorded answers, or simulator")
    recorded = recorded_web(setup.file(FILE) if option is None else Path(option))
    recorded = replace(recorded, unrecorded=setup.unrecorded)
    if setup.unrecorded != "simulate":
        return lambda: recorded
    simulated = _simulated(setup, "--unrecorded simulate")
    return lambda: replace(recorded, simulated=simulated())


def _simulated(setup: WorldSetup, asked: str) -> Callable[[], SimulatedWeb]:
    """Return what gives each chat the answers of the run's simulator."""
    if setup.simulator is None:
        raise UsageError(f"{asked}: this run has no simulator; give a file of answers")
    simulator = setup.simulator()
    documents = {tool.document.name: tool.document for tool in TOOLS.values()}
    return lambda: SimulatedWeb(simulator, documents)


# -- Timers: a phone that also has timers, which ring by themselves.
#
# ToolSandbox has no such tools, so they are in a world of their own, `phone_with_timers`. What is
# played on a `phone` neither sees them nor is ranked beside them.

TABLE = "timers"


class PhoneWithTimers(device.PhoneWorld):
    """A phone whose timers ring once their time has come.

    Ringing changes no table: whether a timer has rung follows from its time and the clock.
    """

    _told: frozenset[str] = frozenset()

    def events(self) -> Sequence[str]:
        """Return the timers that have begun to ring, the earliest first, each one once."""
        ringing = between(self.table(TABLE), "timer_timestamp", high=self.now)
        new = [row for row in ringing if row["timer_id"] not in self._told]
        self._told |= {row["timer_id"] for row in new}
        new.sort(key=lambda row: float(row["timer_timestamp"]))
        return [
            f"The timer {row['label']!r} rings." if row["label"] else "A timer rings."
            for row in new
        ]


def _one(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "timer", arguments["timer_id"]


@effects()
def set_timer(
    phone: PhoneWithTimers,
    seconds: float | NotGiven = NOT_GIVEN,
    timestamp: float | NotGiven = NOT_GIVEN,
    label: str = "",
) -> str:
    """Set a timer that rings after some seconds or at a moment; give one of the two.

    Args:
        seconds: How long from now until it rings.
        timestamp: POSIX seconds of the moment at which it rings.
        label: What it is for.

    Returns:
        The id of the timer.
    """
    given = [
        number
        for number in (timestamp, seconds if isinstance(seconds, NotGiven) else phone.now + seconds)
        if not isinstance(number, NotGiven)
    ]
    if len(given) != 1:
        raise ValueError(f"give either seconds or timestamp, got {'both' if given else 'neither'}")
    due = given[0]
    device.check_given({"timestamp": due})
    if due <= phone.now:
        raise ValueError(f"a timer rings later than now, which is {phone.now}; got {due}")
    return phone.insert(
        TABLE, "timer_id", label=label, creation_timestamp=phone.now, timer_timestamp=due
    )


@effects()
def search_timers(phone: PhoneWithTimers, label: str | NotGiven = NOT_GIVEN) -> list[Row]:
    """Find timers, whether they have rung or not.

    Args:
        label: What the timer is for, or something like it; left out, all timers are found.

    Returns:
        The timers found, each with `rang`; an empty list where there are none.
    """
    rows = phone.table(TABLE)
    if not isinstance(label, NotGiven):
        rows = like(rows, "label", label, device.HALF_ALIKE)
    rang = between(rows, "timer_timestamp", high=phone.now)
    return [{**row, "rang": row in rang} for row in rows]


@effects(checks=_one, changes=_one)
def cancel_timer(phone: PhoneWithTimers, timer_id: str) -> None:
    """Cancel a timer that has not rung yet.

    Args:
        timer_id: Id of the timer.
    """
    rows = phone.table(TABLE)
    found = where(rows, "timer_id", timer_id)
    if not found:
        raise NoDataError(f"there is no timer with the timer_id {timer_id!r}")
    if between(found, "timer_timestamp", high=phone.now):
        raise ValueError("the timer has rung already")
    phone.put(TABLE, without(rows, lambda row: row["timer_id"] == timer_id))


TIMER_TOOLS: Mapping[str, WorldTool] = MappingProxyType(
    toolbox("phone/timers", [set_timer, search_timers, cancel_timer])
)
"""Tools of timers by id, `phone/timers/function`."""


def phone_with_timers(setup: WorldSetup) -> Phones:
    """Return the phones of a run, with timers; options and errors are those of `phone`."""
    plain = phone(setup)
    return replace(
        plain,
        name="phone_with_timers",
        tools={**TOOLS, **TIMER_TOOLS},
        tables={**device.BEGINNING, TABLE: []},
        columns={
            **device.COLUMNS,
            TABLE: {
                "timer_id": device.Text,
                "label": device.Text,
                "creation_timestamp": device.Number,
                "timer_timestamp": device.Number,
            },
        },
        make=lambda tools, given: PhoneWithTimers(tools, given, plain.web()),
    )
