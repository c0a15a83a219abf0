"""tau-bench: the airline and the shop, with their policies, tools, users and gold.

| upstream | here |
|---|---|
| the instruction of the user's simulator | what the user wants (`persona`), who speaks first |
| wiki | what the agent is told before the chat (`system`) |
| actions | gold: the data end as after these calls (`seal.ends_as`) |
| outputs | values that an answer states, and the metric `reward_outputs` |
| data | `seal.benchmarks.taubench.world`, of which a task begins with the rows of its user |

Task id: `taubench/DOMAIN/NUMBER`, of another split than `test` `taubench/DOMAIN/SPLIT/NUMBER`. Tool
id: `taubench/DOMAIN/NAME`. Tools and tasks are Python code of upstream's: the import runs it in a
child process, and plays the gold calls there, so that those which upstream's tools refuse are
known.

Source: Yao et al., tau-bench (2024), arXiv:2406.12045, and sierra-research/tau-bench.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from seal.benchmarks.taubench.conversations import recorded
from seal.benchmarks.taubench.world import (
    ALLOW,
    DOMAINS,
    NAME,
    PACKAGE,
    TRANSFER,
    Shops,
    asked,
    domain_peer,
    package_in,
    rows_of,
)
from seal.core import DataError, Goal, Milestone, Plan, Task, Tool, UsageError, check_name
from seal.core.conditions import Argument, Called
from seal.core.state_conditions import CallRefused, EndsAs
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.files import tool_id, wrong_source
from seal.sandbox.peer import Peer

SPLIT = "test"
_TURNS = 30
"""Replies of the agent, as upstream's runs have them."""


def import_taubench(
    source: Path,
    notes: Notes,
    *,
    domains: str = ",".join(DOMAINS),
    split: str = SPLIT,
    answers: str = "",
    allow_code: Collection[str] = (),
) -> Iterator[Tool | Task | Recorded]:
    """Yield tools and tasks of each domain, then recorded conversations.

    Args:
        source: A checkout of sierra-research/tau-bench, or a folder above `tau_bench`.
        notes: Gets the counts.
        domains: airline, retail, or both, separated by a comma.
        split: test; the shop also has train and dev.
        answers: File of conversations as upstream's `run.py` writes them, which become a recording
            of the file's name, or a folder of such files; empty: none.
        allow_code: Has `tau_bench`, whose code is run.

    Raises:
        UnknownNameError: No such domain.
        UsageError: The code is not allowed, or cannot be run.
        DataError: The source is no checkout, or has no such split.
    """
    chosen = [name.strip() for name in domains.split(",")]
    for name in chosen:
        check_name("domain of taubench", name, DOMAINS)
    if PACKAGE not in allow_code:
        raise UsageError(
            f"the tools and tasks of {NAME} are Python code in {source}, which the import runs in "
            f"a process of its own; if you trust it, allow it: {ALLOW}"
        )
    folder = package_in([str(source)])
    if folder is None:
        raise wrong_source(source, f"a checkout with {PACKAGE}/envs", NAME)
    for name in chosen:
        if not (folder / "envs" / name).is_dir():
            raise DataError(f"{folder} has no domain {name}; leave it out: -T domains=...")
    return _records(folder, chosen, split, answers, notes)


def import_conversations(
    source: Path,
    notes: Notes,
    *,
    answers: str = "",
    domains: str = ",".join(DOMAINS),
    allow_code: Collection[str] = (),
) -> Iterator[Tool | Task | Recorded]:
    """Yield one file of conversations, which become a run to score, their tasks and tools.

    Args:
        source: A checkout.
        notes: Gets the counts.
        answers: As of `import_taubench`, and so are the others.
        domains: Of which it may be.
        allow_code: Has `tau_bench`.

    Raises:
        UsageError: No conversations are named.
    """
    if not answers:
        raise UsageError(
            "of whom? Name a file of conversations, as upstream's run.py writes it: -T "
            "answers=historical_trajectories/gpt-4o-airline.json"
        )
    every = import_taubench(source, notes, domains=domains, answers=answers, allow_code=allow_code)
    found = list(every)
    played = {one.trajectory.task_id for one in found if isinstance(one, Recorded)}
    theirs = tuple({name.rpartition("/")[0] for name in played})
    for one in found:
        of_domain = isinstance(one, Tool) and one.id.startswith(theirs)
        if isinstance(one, Recorded) or of_domain or one.id in played:
            yield one


def _records(
    folder: Path, domains: list[str], split: str, answers: str, notes: Notes
) -> Iterator[Tool | Task | Recorded]:
    tools: dict[str, Tool] = {}
    tasks: dict[str, Task] = {}
    counts: Counter[str] = Counter()
    for domain in domains:
        with closing(domain_peer(folder, domain)) as peer:
            told = asked(peer, "describe", folder, split=split)
            if not told["tasks"]:
                splits = ", ".join(told["splits"]) or "none"
                raise DataError(f"{domain} has no tasks of the split {split!r}; it has: {splits}")
            own = [_tool(domain, document) for document in told["tools"]]
            tools |= {tool.id: tool for tool in own}
            made = _Tasks(domain, split, told["policy"], own, counts)
            for number, record in enumerate(told["tasks"]):
                task = made.task(number, record, peer, folder)
                tasks[task.id] = task
            notes.facts[domain] = {"tables": told["tables"], "tasks": len(told["tasks"])}
    yield from tools.values()
    yield from tasks.values()
    notes.facts["counts"] = dict(sorted(counts.items()))
    notes.lacks |= {"categories", "response_shapes", "gold_calls", "results"}
    if answers:
        yield from recorded(Path(answers), tasks, Shops(folder, tools), notes)


def _tool(domain: str, document: Mapping[str, Any]) -> Tool:
    return Tool(
        tool_id(NAME, domain, document["name"]),
        document["name"],
        document["description"],
        document["parameters"],
        source={"name": document["name"], "domain": domain},
    )


class _Tasks:
    """Makes the tasks of one domain."""

    def __init__(
        self, domain: str, split: str, policy: str, tools: list[Tool], counts: Counter[str]
    ) -> None:
        self._domain, self._split, self._policy = domain, split, policy
        self._tools = {tool.name: tool.id for tool in tools}
        self._counts = counts

    def task(self, number: int, record: Mapping[str, Any], peer: Peer, folder: Path) -> Task:
        """Return a task whose gold is played here, without the calls that end the chat."""
        actions = [action for action in record["actions"] if action["name"] != TRANSFER]
        played = asked(peer, "play", folder, calls=actions, user=record["user_id"])
        gold = tuple(map(self._called, actions, played["refused"]))
        part = () if self._split == SPLIT else (self._split,)
        self._counts.update(
            gold_calls=len(gold),
            gold_calls_refused=sum(call.refused for call in gold),
            tasks_with_outputs=bool(record["outputs"]),
        )
        goal = Goal(
            record["instruction"],
            (Plan((Milestone(EndsAs((gold,))),)),),
            tuple(record["outputs"]),
            tuple(self._tools.values()),
            tuple(dict.fromkeys(call.tool for call in gold)),
        )
        return Task(
            "/".join((NAME, self._domain, *part, str(number))),
            NAME,
            (goal,),
            rows_of(played["rows"]),
            persona={"goal": record["instruction"], "opening": True},
            split=self._split,
            tags={"domain": self._domain, "outputs": bool(record["outputs"])},
            metadata={"max_turns": _TURNS, "user_id": record["user_id"]},
            world=NAME,
            system=self._policy,
        )

    def _called(self, action: Mapping[str, Any], refused: bool) -> Called:
        arguments = {name: Argument((value,)) for name, value in action["kwargs"].items()}
        return (CallRefused if refused else Called)(self._tools[action["name"]], arguments)
