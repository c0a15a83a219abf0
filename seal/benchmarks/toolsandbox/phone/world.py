"""Phones by the chat: the factory that opens them, and its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from seal.benchmarks.toolsandbox.phone import TOOLS
from seal.benchmarks.toolsandbox.phone.answers import (
    FILE,
    RecordedWeb,
    SimulatedWeb,
    WebAnswers,
    recorded_web,
)
from seal.benchmarks.toolsandbox.phone.descriptions import OPTION as DESCRIPTIONS
from seal.benchmarks.toolsandbox.phone.descriptions import Descriptions, check_descriptions
from seal.benchmarks.toolsandbox.phone.device import BEGINNING, COLUMNS, PhoneWorld, check_beginning
from seal.core import JSON, DataError, OptionError, Tables, Task, Trajectory, UsageError
from seal.environments.world import Worlds, WorldSetup, check_options

ASKING = "phone/rapid_api_search_tools/"
"""How the ids of the tools begin that ask the web."""
SIMULATOR = "simulator"
"""Value of the option `web` that lets the run's simulator answer."""


def phone(setup: WorldSetup) -> Phones:
    """Return the phones of a run.

    Args:
        setup: Of which the options are `race` (`seal.environments.chat_world.Race`); `web`: a
            file of recorded answers (`RecordedWeb`), or `simulator`; else those of the pool serve,
            or the shipped ones; and `descriptions`, what the tools' texts tell.

    Raises:
        OptionError: An option is unknown or has a value that it cannot have.
        DataError: The file is not what it must be.
        UsageError: The simulator is to answer, and the run has none.
    """
    check_options("phone", setup, ("race", "web", DESCRIPTIONS))
    check_descriptions(setup.options.get(DESCRIPTIONS), setup.tools)
    web = _web(setup)
    phones = Phones(
        name="phone",
        tools=TOOLS,
        tables=BEGINNING,
        columns=COLUMNS,
        make=lambda tools, given: PhoneWorld(tools, given, web()),
        web=web,
        descriptions=setup.options.get(DESCRIPTIONS, "plain"),
    )
    others = {n: value for n, value in setup.options.items() if n not in ("web", DESCRIPTIONS)}
    return phones.under(replace(setup, options=others))


@dataclass(frozen=True, kw_only=True)
class Phones(Worlds):
    """Opens a phone for each chat."""

    web: Callable[[], WebAnswers]
    """Gives what answers the tools of one chat that ask the web."""
    descriptions: Descriptions = "plain"
    """What the tools' texts tell."""

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
        own = {"web": self.web().identity(), "descriptions": self.descriptions}
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
