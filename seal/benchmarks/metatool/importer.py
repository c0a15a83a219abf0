"""MetaTool: whether a tool is needed, and which plugins, by name alone.

| set | file | a task is |
|---|---|---|
| single | all_clean_data.csv | one query text; of several labels, any one is right |
| multi | multi_tool_query_golden.json | a query that needs two plugins |
| task1 | Task1.json | is a tool needed? positive: its plugin; negative: a plan without calls |
| task2 | Task2-Subtask*.json | a choice among the plugins that the prompt lists |

The group of a task is its set, of task2 `task2_subtaskN`. Where a prompt of task2 lists none of the
right plugins, no call is right (subtask 3 took them out): their names stand in the goal's labels
and not in `relevant`. A plugin has a name and a description, no parameters: gold calls accept any
arguments.

Source: MetaTool (Huang et al., ICLR 2024), section 3, and the files of HowieHwong/MetaTool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from seal.benchmarks.metatool.files import (
    BENCHMARK,
    Labelled,
    awareness_queries,
    choice_queries,
    multi_queries,
    plugins,
    single_queries,
)
from seal.core import JSON, Goal, Milestone, Plan, Task, Tool, check_name
from seal.core.conditions import Called
from seal.pools.importer import Notes
from seal.pools.reading.records import find, wrong_source
from seal.pools.reading.tables import TaskIds

SETS = {
    "single": "all_clean_data.csv",
    "multi": "multi_tool_query_golden.json",
    "task1": "Task1.json",
    "task2": "Task2-Subtask*.json",
}
"""Name of a set to its files."""

_LACKS = ("categories", "gold_arguments", "parameters", "response_shapes")


def import_metatool(
    source: Path, notes: Notes, *, set: str = "single,multi", pool: str = "described"
) -> Iterator[Tool | Task]:
    """Yield the plugins and tasks of MetaTool's files.

    Args:
        source: Upstream's folder `dataset`, or one above it.
        notes: Gets the counts.
        set: Sets of tasks, separated by commas, or "all"; the default are the two for retrieval.
        pool: "described": the 199 plugins of plugin_des.json, which all queries are about; "all":
            those of plugin_info.json and big_tool_des.json besides.

    Raises:
        UnknownNameError: No such set or pool.
        DataError: A file is missing or malformed; the text names file and place.
    """
    sets = _sets(str(set))
    if source.is_file():
        raise wrong_source(source, "a folder with plugin_des.json and the queries", BENCHMARK)
    return _Import(source, notes, plugins(source, str(pool), notes)).records(sets)


def _sets(text: str) -> tuple[str, ...]:
    names = tuple(SETS) if text == "all" else tuple(part.strip() for part in text.split(","))
    for name in names:
        check_name("set of metatool", name, ("all", *SETS))
    return tuple(dict.fromkeys(names))


class _Import:
    """One import: what was met so far."""

    def __init__(self, source: Path, notes: Notes, tools: dict[str, Tool]) -> None:
        self._source = source
        self._notes = notes
        self._tools = tools
        self._ids = TaskIds()
        self._counts: Counter[str] = Counter()
        self._groups: Counter[str] = Counter()

    def records(self, sets: tuple[str, ...]) -> Iterator[Tool | Task]:
        yield from self._tools.values()
        for name in sets:
            for path in find(self._source, [SETS[name]], BENCHMARK):
                group = path.stem.lower().replace("-", "_") if name == "task2" else name
                for query in self._queries(name, path):
                    task = self._task(query, group)
                    if task is not None:
                        yield task
        self._report()

    def _queries(self, name: str, path: Path) -> Iterator[Labelled]:
        if name == "single":
            return single_queries(path, self._counts, self._notes.dropped)
        read = {"multi": multi_queries, "task1": awareness_queries, "task2": choice_queries}
        return read[name](path, self._notes)

    def _task(self, query: Labelled, group: str) -> Task | None:
        """Return the query's task; None where it was here before or names an unknown plugin."""
        if not self._tools.keys() >= {*query.labels, *(query.listed or ())}:
            self._notes.dropped["unknown_plugin"] += 1
            return None
        task_id = self._ids.add(f"{group}/{query.number}", query.text)
        if task_id is None:
            self._counts["duplicates"] += 1
            return None
        self._groups[group] += 1
        return Task(task_id, BENCHMARK, (self._goal(query, group),), tags=_tags(query, group))

    def _goal(self, query: Labelled, group: str) -> Goal:
        labels = tuple(self._tools[name].id for name in query.labels)
        if query.listed is not None:
            return self._choice(query, labels)
        if group == "single" and len(labels) > 1:
            plans = tuple(_plan((tool,)) for tool in labels)
            return Goal(query.text, plans, relevant=labels, any_relevant=True)
        return Goal(query.text, (_plan(labels),), relevant=labels)

    def _choice(self, query: Labelled, labels: tuple[str, ...]) -> Goal:
        offered = tuple(self._tools[name].id for name in query.listed or ())
        right = tuple(tool for tool in labels if tool in offered)
        missing: list[JSON] = [tool for tool in labels if tool not in offered]
        self._counts["plugins_not_listed"] += len(missing)
        return Goal(
            query.text,
            (_plan(right),),
            offered=offered,
            relevant=right,
            labels={"not_listed": missing} if missing else {},
        )

    def _report(self) -> None:
        for name in ("duplicates", "repeated_rows", "texts_with_several_labels"):
            self._counts[name] += 0
        self._counts["repeated_texts"] = self._ids.repeated
        facts = self._notes.facts
        facts["counts"] = dict(sorted(self._counts.items()))
        facts["tasks_of_group"] = dict(self._groups)
        self._notes.lacks.update(_LACKS)


@lru_cache(maxsize=4096)
def _plan(tools: tuple[str, ...]) -> Plan:
    """Return a plan that calls the tools in any order; of no tools, one without calls."""
    return Plan(tuple(Milestone(Called(tool)) for tool in tools))


def _tags(query: Labelled, group: str) -> dict[str, JSON]:
    several = len(query.labels) > 1 and group != "single"
    tags: dict[str, JSON] = {"group": group, "multi_tool": several, "multi_step": several}
    if group == "task1":
        tags["tool_needed"] = bool(query.labels)
    return tags
