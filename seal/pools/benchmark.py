"""`Benchmark`: what is played, measured and reported."""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_type_hints

from seal.core import Task, Tool, UsageError, shortened
from seal.core.registry import load_dotted, name_of
from seal.core.settings import check_types, checked, checked_names
from seal.core.text import THEIRS, counted
from seal.pools.declarations import Generator, PublishedTable
from seal.pools.importer import Importer, Notes
from seal.pools.pool import StoredPool, load_pool

# -- The benchmark: tools, tasks, where calls run, what is measured, how it is played and reported.

PLAY = ("team", "history", "format", "prompt")
"""What a benchmark may say about how it is played."""
Code: TypeAlias = Callable[..., Any] | str | None
"""A function, or where it stands, as `module:function`, so that it is imported where it is used
alone; None: there is none."""
OfOne: TypeAlias = Callable[[Any], Any] | str | None
OfTwo: TypeAlias = Callable[[Any, Any], Any] | str | None
"""Likewise, of as many arguments."""


_log = logging.getLogger(__name__)
_LISTS = ("tools", "tasks")
"""Parts whose items are checked one by one, so that the wrong one is named."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Parts:
    """What a benchmark is besides its name."""

    tools: Sequence[OwnTool] = ()
    """Functions run when they are called; calls of schemas and records are simulated, unless
    `environment` runs them. None: those of `folder`, or of an environment that is a `Worlds`.
    Beside a folder, which has documents alone, they are the functions behind its tools."""
    tasks: Sequence[Task] = ()
    """As `seal.ask` makes them, or records; none: those of `folder`."""
    system: str = ""
    """What the agent is told before each of `tasks`, behind the policy of its world; a task's own
    `system` stands behind it. Tasks of a folder have their own alone."""
    folder: Path | None = None
    """Pool folder that holds tools and tasks, such as one that `seal import` wrote."""
    importer: Importer | str | None = None
    """Reads upstream files (`seal.pools.importer`), or where that stands, as `module:function`;
    None: they cannot be imported."""
    world_files: Sequence[str] = ()
    """Names of further files of its pool folder, which its worlds read (`WorldSetup.file`)."""
    environment: Any = None
    """Where calls run: a `Worlds`, a function of a `WorldSetup` that gives an object with open,
    identity and keys_of (`seal.environments.world`), or the name of an installed world, such as
    `mcp`. None: functions, and the run's simulator."""
    needs_world: OfOne = None
    """(task) to the `seal.pools.declarations.NeededWorld` without which it is not played, or None:
    a simulator may answer its calls. None: it may for every task."""
    metrics: Sequence[Any] = ()
    """Metrics beside the usual ones: objects with `score(task, trajectory, tools)`, their classes,
    names, or functions of (task, trajectory) that return a number, a bool, or a map of these."""
    headline: Sequence[str] = ()
    """Metrics of the short table, in its order; none: the usual ones."""
    success: str = ""
    """Metric whose best value, 1 or of a fault 0, is a solved task. One without a best value, such
    as a count, is refused. Empty: `calls_right` where all gold is calls, else `pass_rate`."""
    play: Mapping[str, Any] = field(default_factory=dict)
    """`team`, `history` and `format` where the user says nothing; `prompt`: `theirs`, where the
    system text of a task is to stand alone instead of behind the prompts of the roles."""
    verdicts: OfOne = None
    """(path) to the verdicts that its authors recorded in a file
    (`seal.evaluation.llm_judge.VerdictFile`)."""
    answers: Mapping[str, Code] = field(default_factory=dict)
    """Format of answers that its authors kept to a function of (store, folder, tools) that reads
    them (`seal cache import --format`); a simulator of that name gives them."""
    generators: Mapping[str, Generator | Code] = field(default_factory=dict)
    """Kind to what makes it (`seal.generate`), with its flags (`seal generate`); or to a function
    of (bench, out, **options) alone."""
    augmentations: Mapping[str, Sequence[Any] | str] = field(default_factory=dict)
    """Name to several augmentations (`seal.pools.augmentation.Augmentation`) that `seal augment`
    makes at once, or where they stand, as `module:attribute`."""
    exports: Mapping[str, Code] = field(default_factory=dict)
    """Form to a function of a `seal.experiments.export.Writer` that writes a pool, or a run, in it
    (`seal export --to`)."""
    sections: Sequence[Any] = ()
    """Sections of the report (`seal.report.sections`), or where each stands, as
    `module:attribute`; they are shown after the usual ones."""
    published: Sequence[PublishedTable] | str = ()
    """Tables and figures of its paper, which `seal paper` and the report show beside runs; or where
    they stand, as `module:attribute`, so that they are read there alone."""
    measures: OfOne = None
    """(`seal.evaluation.scoring.Scoring`) to metrics that need the rules, judge or sandbox of a
    run; they are scored after the usual ones."""
    matches: Mapping[str, Code] = field(default_factory=dict)
    """Name of published rules (`seal score --match`) to a function that gives a function of a
    `GoalChat` to the `Value` of `calls_right`."""
    is_request: OfOne = None
    """(goal) to whether it asks for something to be done. In a task without such a goal, metrics
    of requests (retrieval, missions, pass rate, milestones) do not apply. None: every goal does."""
    decided_by: OfOne = None
    """(goal) to groups of metrics: the first group in which one has a value decides whether the
    goal is solved. None: the usual ones (`seal.evaluation.attribution`)."""
    cause_of: OfOne = None
    """(`Evidence`) to the `Cause` for which a goal failed, or None: the calls say it."""
    rated: OfTwo = None
    """(task, trajectory) to the turns that people rate (`seal annotate`): (goal, description of the
    character that was played, words)."""
    runs_code: OfOne = None
    """(task) to whether code that a model wrote for it is run, in the sandbox of the run."""
    options: Mapping[str, Literal["measure", "system"]] = field(default_factory=dict)
    """Names of the options (`-T`) that it takes itself, by `settings`, `view` or `creator`, to the
    part of run.json that tells their values."""
    creator: Code = None
    """(settings, tasks, ask) to a function of a tool that gives the text in which a model wrote it,
    for its world; None: none is written. `tasks()` reads every task; `ask(role, task, messages)`
    asks the model."""
    players: Mapping[str, Code] = field(default_factory=dict)
    """Offline model (lexical, oracle, random) to a function of (request, task) that answers for it
    in roles of the benchmark's own teams; None from it: the model answers."""
    settings: OfTwo = None
    """(settings, play) to settings of a run of which the benchmark fills gaps; `play` maps what
    the pool says where the user says nothing."""
    view: OfTwo = None
    """(settings, pool) to what chooses and changes the tasks that are played, a function of a
    function that reads them, or None: all are played as they are."""
    ablations: Sequence[Any] = ()
    """Further ablations (`seal.experiments.ablation.Variation`), or where each stands,
    as `module:attribute`."""


@checked_names
@dataclass(frozen=True, eq=False)
class Benchmark(_Parts):
    """What is played: tools, tasks, environment and metrics.

    Args:
        name: Letters, digits and `._-`; ids of tools and tasks begin with it. Whoever reads a run
            folder later asks the installed or registered benchmark of this name.

    Raises:
        UsageError: A part that cannot be; the text names it and the repair.

    Example:
        >>> import seal
        >>> def get_order(order_id: str) -> dict:
        ...     "Look an order up."
        ...     return {"ships": "Monday"}
        >>> shop = seal.Benchmark(
        ...     "shop",
        ...     tools=[get_order],
        ...     tasks=[seal.ask("When does order 7 ship?", seal.called("get_order", order_id="7"))],
        ... )
        >>> shop
        Benchmark('shop': 1 task, 1 tool)
    """

    name: str

    def __post_init__(self) -> None:
        """Check every part, so that what cannot be is told before anything is played."""
        if not isinstance(self.name, str) or not _is_name(self.name):
            raise UsageError(
                "a benchmark's name has letters, digits and the signs . _ - alone; "
                f"got {shortened(self.name)}"
            )
        hints = {name: kind for name, kind in get_type_hints(_Parts).items() if name not in _LISTS}
        check_types({name: getattr(self, name) for name in hints}, hints)
        for part in self.play:
            if part not in PLAY:
                raise UsageError(
                    f"benchmark {self.name!r}: play has no {part!r}; it takes: {', '.join(PLAY)}"
                )
        if self.play.get("prompt", THEIRS) != THEIRS:
            raise UsageError(
                f"benchmark {self.name!r}: play.prompt: expected {THEIRS}, got "
                f"{shortened(self.play['prompt'])}; leave it out to join system texts to ours"
            )
        if self.folder is not None and self.system:
            raise UsageError(
                f"benchmark {self.name!r}: system stands beside a folder, whose tasks have their "
                "own; leave it out, or give tasks=[...] instead of the folder"
            )
        if self.folder is not None and self.tasks:
            raise UsageError(
                f"benchmark {self.name!r}: the folder holds tasks already; leave out one of the two"
            )
        if self.tools and self.folder is None and hasattr(self.environment, "documents"):
            raise UsageError(
                f"benchmark {self.name!r}: its environment has tools of its own; leave out "
                "`tools`, or add them to the environment"
            )
        if self.success or (self.headline and self.tools):
            from seal.evaluation.own_metrics import check_success

            check_success(self.name, self.success, self.metrics, self.headline)
        if self.tools or self.tasks:
            self._check()

    def __repr__(self) -> str:
        if self._own.by_id and self.folder is None:
            tasks, tools = len(self._tasks), len(self._own.by_id)
            counts = f"{counted(tasks, 'task')}, {counted(tools, 'tool')}"
            return f"Benchmark({self.name!r}: {counts})"
        place = f", folder={str(self.folder)!r}" if self.folder else ""
        return f"Benchmark({self.name!r}{place})"

    def __reduce__(self) -> Any:
        parts = {name: getattr(self, name) for name in _Parts.__dataclass_fields__}
        return _made, (self.name, parts)

    def pool(self) -> StoredPool:
        """Return the tools and tasks as a pool folder, which this benchmark stands behind.

        What was made in memory lies in a temporary folder that goes with this object.

        Raises:
            UsageError: It has neither tools nor a folder: its files are to be imported first.
            DataError: The folder is no pool.
        """
        if self.folder is not None:
            load_pool(self.folder)
            return StoredPool(self.folder, benchmark=self)
        return StoredPool(self._written, benchmark=self)

    @checked
    def save(self, folder: str | Path) -> Path:
        """Write tools and tasks to a pool folder that every verb of the command line takes.

        Functions stay behind: where the folder is opened by its path, their calls are simulated
        unless the user allows the modules that hold them.

        Args:
            folder: To make; an earlier pool there is replaced.

        Raises:
            UsageError: It exists and is no pool.
        """
        from seal.pools.imports import write_pool

        # A pool folder can say names alone.
        play = {part: what for part, what in self.play.items() if isinstance(what, str)}
        write_pool(self.name, self._records, None, Path(folder), **play)
        return Path(folder)

    @classmethod
    @checked
    def of(
        cls,
        name: str,
        tools: str | Path | Sequence[OwnTool],
        tasks: Any,
        columns: Mapping[str, str] | None = None,
    ) -> Benchmark:
        """Return the benchmark of files as people have them (`seal.pools.own_files`).

        Args:
            name: Of the benchmark.
            tools: Path of a Python module of functions, of schemas, of an MCP listing, of an
                OpenAPI document or of a CSV table; or tools as a list.
            tasks: Path of a table, `hf:NAME[:SPLIT]`, a data frame, or rows as maps; those that
                cannot be used are left out, with a warning.
            columns: What is read (query, calls, tools, answer, id) to the column that is it.

        Raises:
            DataError: A file is malformed, or no row of the tasks can be used.
            UsageError: Tools that cannot be, or a column that is not there.
        """
        from seal.pools.own_files import benchmark_of

        made, notes = benchmark_of(name, tools, tasks, columns)
        if notes.malformed:
            count = len(notes.malformed)
            _log.warning("tools and tasks left out: %s; the first: %s", count, notes.malformed[0])
        return made

    @classmethod
    @checked
    def load(cls, folder: str | Path, *, tools: Sequence[OwnTool] = ()) -> Benchmark:
        """Return the benchmark of a pool folder, with what an installed one of its name declares.

        Args:
            folder: As `save` or `seal import` wrote it.
            tools: The functions behind its tools; calls of all others are simulated.

        Raises:
            DataError: The folder is no pool.
            UsageError: It has no tool of a function's name, or one that is called otherwise.
        """
        from seal.pools.lookup import known_benchmark

        pool = load_pool(Path(folder))
        known = known_benchmark(pool.made_of) or cls(pool.name)
        loaded = replace(known, tools=tuple(tools), tasks=(), folder=Path(folder), system="")
        if tools:
            from seal.pools.own_benchmark import check_functions

            check_functions(Path(folder), loaded._own, {tool.id: tool for tool in pool.tools()})
        return loaded

    def at(self, folder: Path) -> Benchmark:
        """Return this benchmark with the tools and tasks of another pool folder."""
        return replace(self, tasks=(), folder=folder, system="")

    @property
    def is_complete(self) -> bool:
        """Whether its tools and tasks are here, so that nothing has to be imported."""
        return bool(self.folder or self._own.by_id)

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Id of each tool that is a Python function, to the function."""
        return self._own.functions

    def declared(self, pool: str = "") -> dict[str, Any]:
        """Return what reports of its runs must know, as JSON; empty where it declares nothing.

        Args:
            pool: Name of the pool that is played. Where that is another than the benchmark's, such
                as of a folder that was made by hand, the benchmark's is told in any case.
        """
        here = () if isinstance(self.published, str) else self.published
        told = {
            "metrics": [name_of(metric) for metric in self.metrics],
            "headline": list(self.headline),
            "success": self.success,
            "sections": [name_of(section) for section in self.sections],
            "published": [table.to_json() for table in here],
        }
        found = {part: value for part, value in told.items() if value}
        return {"name": self.name, **found} if found or (pool or self.name) != self.name else {}

    def worlds(self) -> dict[str, Any]:
        """Return the world that its tasks name by the benchmark's name, where it has one."""
        named = self.environment is None or isinstance(self.environment, str)
        return {} if named else {self.name: self.environment}

    @cached_property
    def _own(self) -> OwnTools:
        given = self.tools
        if not given and self.environment is not None:
            from seal.environments.world import Worlds

            if isinstance(self.environment, Worlds):
                given = self.environment.documents()
        if not given and not self.tasks:
            return OwnTools()
        from seal.pools.own_benchmark import own_tools

        return own_tools(self.name, given)

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        from seal.pools.own_benchmark import own_tasks

        given = self.environment
        world = given if isinstance(given, str) else "" if given is None else self.name
        policy = getattr(given, "told", "")
        system = "\n\n".join(filter(str.strip, (policy, self.system)))
        return own_tasks(self.name, self.tasks, self._own, world, system)

    @cached_property
    def _written(self) -> Path:
        if not self._own.by_id:
            raise UsageError(
                f"benchmark {self.name!r} has no tools here; give tools=[...], or import its "
                f"files: seal import {self.name} SOURCE --out POOL, then use POOL"
            )
        parent = tempfile.mkdtemp(prefix="seal-")
        weakref.finalize(self, shutil.rmtree, parent, True)
        return self.save(Path(parent) / self.name)

    def _records(self, source: Path | None, notes: Notes, **play: str) -> Iterator[Tool | Task]:
        notes.facts |= {"play": play} if play else {}
        if self.folder is not None:
            pool = load_pool(self.folder)
            yield from pool.tools()
            yield from pool.every_task()
            return
        yield from self._own.by_id.values()
        yield from self._tasks

    def _check(self) -> None:
        from seal.environments.world import Worlds
        from seal.pools.own_benchmark import check_conditions, check_gold

        check_gold(self._tasks, self._own.by_id)
        # What is no `Worlds`, such as a function, would have to be called to tell its tables.
        known = self.worlds() if isinstance(self.environment, Worlds) else {}
        check_conditions(self._tasks, known)


def part_of(benchmark: Benchmark | None, part: str) -> Any:
    """Return a function that a benchmark declares, imported where it is named by a text.

    None where it has none, or there is no benchmark.
    """
    return None if benchmark is None else loaded(getattr(benchmark, part))


def benchmark_options(benchmark: Benchmark | None) -> Mapping[str, str]:
    """Return the options that a benchmark takes itself, each with its part of run.json."""
    return {} if benchmark is None else benchmark.options


def loaded(code: Any) -> Any:
    """Return a part that a benchmark declares; what a text names is imported."""
    return load_dotted(code) if isinstance(code, str) else code


def _is_name(name: str) -> bool:
    return bool(name) and all(c.isalnum() or c in "._-" for c in name) and name.strip(".") != ""


def _made(name: str, parts: dict[str, Any]) -> Benchmark:
    return Benchmark(name, **parts)


# -- The kinds of tools that people have (`seal.pools.own_benchmark` reads them).

OwnTool = Tool | Mapping[str, Any] | Callable[..., Any]
"""A record, a schema (of OpenAI's chat completions or responses, of Anthropic's or MCP's tools), or
a function with types and a docstring of Google's style."""
FUNCTION = "function"
"""Key of a tool's `source` under which the dotted path of its function stands."""
FEW_TOOLS = 20
"""A benchmark with at most so many tools offers them all, where its tasks do not say otherwise."""


@dataclass(frozen=True)
class OwnTools:
    """The tools of one benchmark."""

    by_id: Mapping[str, Tool] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Tool id to the function that runs; calls of all other tools are simulated."""

    @cached_property
    def ids(self) -> dict[str, str]:
        """Name to id, of the tools and of their ids themselves."""
        return {tool.name: tool.id for tool in self.by_id.values()} | {i: i for i in self.by_id}
