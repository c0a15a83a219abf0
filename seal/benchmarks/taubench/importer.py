"""tau-bench and tau2-bench: an airline and a shop, with their policies, tools, users and gold.

| tau-bench | tau2-bench | here |
|---|---|---|
| instruction of the user | scenario | what the user wants (`persona`), who speaks first |
| wiki | policy | what the agent is told before the chat (`system`) |
| actions | actions | gold: the data end as after these calls (`seal.ends_as`) |
| outputs | facts to tell | values that an answer states, and the metric `reward_outputs` |
| data | data | the world, of which a task begins with the rows of its user |
| | what makes the reward | `metadata`, and the metric `reward` |

Task id: `taubench/DOMAIN/NUMBER`, of another split than the usual one
`taubench/DOMAIN/SPLIT/NUMBER`. Tool id: `taubench/DOMAIN/NAME`. Those of tau2-bench begin by
`tau2`. Tools and tasks are Python code of upstream's, which the import runs in a child process.
It plays the gold calls there. So it is known which of them upstream's tools refuse.

The users of telecom, the third domain of tau2-bench, have tools of their own (`persona`). Its
tasks begin by functions of upstream, and assert of their end what others say: each is a row.

Source: Yao et al., tau-bench (2024), arXiv:2406.12045, and sierra-research/tau-bench. Barres et
al., tau2-bench (2025), arXiv:2506.07982, and sierra-research/tau2-bench.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seal.benchmarks.taubench.conversations import recorded
from seal.benchmarks.taubench.metrics import (
    ACTIONS,
    ASSERTIONS,
    BASIS,
    DATA,
    MADE,
    NOTED,
    SAID,
    STATEMENTS,
)
from seal.benchmarks.taubench.world import (
    TAU2,
    TAUBENCH,
    Shops,
    Upstream,
    asked,
    domain_peer,
    rows_of,
)
from seal.core import JSON, DataError, Goal, Milestone, Plan, Task, Tool, UsageError, check_name
from seal.core.conditions import Argument, Called
from seal.core.state_conditions import CallRefused, EndsAs
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.files import tool_id, wrong_source


def import_taubench(
    source: Path,
    notes: Notes,
    *,
    domains: str = ",".join(TAUBENCH.domains),
    split: str = TAUBENCH.split,
    answers: str = "",
    allow_code: Collection[str] = (),
) -> Iterator[Tool | Task | Recorded]:
    """Yield tools and tasks of each domain, then recorded conversations.

    Args:
        source: A checkout of sierra-research/tau-bench, or a folder above `tau_bench`.
        notes: Gets the counts.
        domains: airline, retail, or both, separated by a comma.
        split: test; the shop also has train and dev.
        answers: File of conversations as upstream's `run.py` writes them, or a folder of such
            files. They become a recording of the file's name. Empty: none.
        allow_code: Has `tau_bench`, whose code is run.

    Raises:
        UnknownNameError: No such domain.
        UsageError: The code is not allowed, or cannot be run.
        DataError: The source is no checkout, or has no such split.
    """
    return _imported(TAUBENCH, source, notes, domains, split, answers, allow_code)


def import_tau2(
    source: Path,
    notes: Notes,
    *,
    domains: str = ",".join(TAU2.domains),
    split: str = TAU2.split,
    allow_code: Collection[str] = (),
) -> Iterator[Tool | Task | Recorded]:
    """Yield tools and tasks of each domain of tau2-bench.

    Args:
        source: A checkout of sierra-research/tau2-bench, or a folder above `tau2`.
        notes: Gets the counts.
        domains: airline, retail and telecom, or some of them, separated by commas.
        split: base, which is all; also train and test, and of telecom small and full.
        allow_code: Has `tau2`, whose code is run.

    Raises:
        As `import_taubench`.
    """
    return _imported(TAU2, source, notes, domains, split, "", allow_code)


def _imported(
    of: Upstream,
    source: Path,
    notes: Notes,
    domains: str,
    split: str,
    answers: str,
    allow_code: Collection[str],
) -> Iterator[Tool | Task | Recorded]:
    """Check what is asked for, and return what yields it."""
    chosen = [name.strip() for name in domains.split(",")]
    for name in chosen:
        check_name(f"domain of {of.name}", name, of.domains)
    if of.package not in allow_code:
        raise UsageError(
            f"the tools and tasks of {of.name} are Python code in {source}, which the import runs "
            f"in a process of its own; if you trust it, allow it: {of.allow}"
        )
    folder = of.package_in([str(source), str(source / of.checkout)])
    if folder is None:
        raise wrong_source(source, f"a checkout with {of.package}/{of.parts}", of.name)
    for name in chosen:
        if not (folder / of.parts / name).is_dir():
            raise DataError(f"{folder} has no domain {name}; leave it out: -T domains=...")
    return _records(of, folder, chosen, split, answers, notes)


def import_conversations(
    source: Path,
    notes: Notes,
    *,
    answers: str = "",
    domains: str = ",".join(TAUBENCH.domains),
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
    of: Upstream, folder: Path, domains: list[str], split: str, answers: str, notes: Notes
) -> Iterator[Tool | Task | Recorded]:
    tools: dict[str, Tool] = {}
    tasks: dict[str, Task] = {}
    counts: Counter[str] = Counter()
    for domain in domains:
        with closing(domain_peer(of, folder, domain)) as peer:
            told = asked(of, peer, "describe", folder, split=split)
            if not told["tasks"]:
                splits = ", ".join(told["splits"]) or "none"
                raise DataError(f"{domain} has no tasks of the split {split!r}; it has: {splits}")
            own, users = (
                [_tool(of, domain, document) for document in told.get(kind) or ()]
                for kind in ("tools", "user_tools")
            )
            tools |= {tool.id: tool for tool in (*own, *users)}
            made = _Tasks(of, domain, split, told["policy"], own, users, counts)
            for number, record in enumerate(told["tasks"]):
                asking = _of_scenario(record) if of is TAU2 else _Asking(str(number), **record)
                gold, user = made.gold(asking), asking.user_id
                played = asked(of, peer, "play", folder, calls=gold, begun=asking.begun, user=user)
                task = made.task(asking, played)
                tasks[task.id] = task
            notes.facts[domain] = {"tables": told["tables"], "tasks": len(told["tasks"])}
    yield from tools.values()
    yield from tasks.values()
    notes.facts["counts"] = dict(sorted(counts.items()))
    notes.lacks |= {"categories", "response_shapes", "gold_calls", "results"}
    if answers:
        yield from recorded(Path(answers), tasks, Shops(of, folder, tools), notes)


def _tool(of: Upstream, domain: str, document: Mapping[str, Any]) -> Tool:
    return Tool(
        tool_id(of.name, domain, document["name"]),
        document["name"],
        document["description"],
        document["parameters"],
        source={"name": document["name"], "domain": domain},
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """What a task of upstream asks for."""

    id: str
    user_id: str
    """Empty: it is not told."""
    instruction: str
    actions: Sequence[Mapping[str, Any]]
    """The gold calls, each a name and arguments (`kwargs`)."""
    outputs: Sequence[str]
    about: Mapping[str, JSON] = field(default_factory=dict)
    """Of what the reward is made, the statements that a judge is to confirm, and calls to make."""
    begun: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    """Functions by which it begins, and what it asserts of its end, each table by number."""


BEGINNING = "beginning"
"""Table of the functions by which a task begins."""
_SCENARIO = {
    "reason_for_call": "Why you write",
    "known_info": "What you know",
    "unknown_info": "What you do not know",
    "task_instructions": "How you behave",
}
"""Part of a user's scenario to its name here."""


def _of_scenario(record: Mapping[str, Any]) -> _Asking:
    """Return what a task of tau2-bench asks for.

    Raises:
        DataError: It begins amid a chat, or with data of its own.
    """
    scenario, criteria = record["user_scenario"], record.get("evaluation_criteria") or {}
    given = scenario["instructions"]
    if isinstance(given, Mapping):
        given = "\n".join(
            f"{title}: {given[part]}" for part, title in _SCENARIO.items() if given.get(part)
        )
    if scenario.get("persona"):
        given += f"\nWho you are: {scenario['persona']}"
    actions, begins = criteria.get("actions") or [], record.get("initial_state") or {}
    if begins.get("message_history") or begins.get("initialization_data"):
        raise DataError(
            f"task {record['id']}: it begins with messages or data of its own, which is not read; "
            "import another split, or a checkout without such tasks"
        )
    begun = {
        BEGINNING: begins.get("initialization_actions") or [],
        ASSERTIONS: criteria.get("env_assertions") or [],
    }
    basis = criteria.get("reward_basis") or [DATA, SAID]
    return _Asking(
        str(record["id"]),
        "",
        given,
        [{"name": one["name"], "kwargs": one["arguments"]} for one in actions],
        criteria.get("communicate_info") or (),
        {
            BASIS: basis,
            STATEMENTS: criteria.get("nl_assertions") or [],
            **({ACTIONS: list(map(_compared, actions))} if MADE in basis else {}),
        },
        {table: {str(n): one for n, one in enumerate(of)} for table, of in begun.items() if of},
    )


def _compared(action: Mapping[str, Any]) -> dict[str, JSON]:
    return {name: action.get(name) for name in ("name", "arguments", "compare_args")}


class _Tasks:
    """Makes the tasks of one domain."""

    def __init__(
        self,
        of: Upstream,
        domain: str,
        split: str,
        policy: str,
        tools: list[Tool],
        users: list[Tool],
        counts: Counter[str],
    ) -> None:
        self._of, self._domain, self._split, self._policy = of, domain, split, policy
        self._tools = {tool.name: tool.id for tool in (*tools, *users)}
        self._offered = tuple(tool.id for tool in tools)
        self._users = [tool.id for tool in users]
        self._counts = counts

    def gold(self, asking: _Asking) -> list[Mapping[str, Any]]:
        """Return the gold calls without those that end the chat.

        Raises:
            DataError: A tool is not there.
        """
        actions = [action for action in asking.actions if action["name"] != self._of.ends]
        for action in actions:
            if action["name"] not in self._tools:
                raise DataError(
                    f"task {asking.id}: gold calls {action['name']!r}, which is no tool of "
                    f"{self._domain}; get a whole checkout of {self._of.repository}"
                )
        return actions

    def task(self, asking: _Asking, played: Mapping[str, Any]) -> Task:
        """Return a task, of whose gold is known which calls are refused."""
        gold = tuple(map(self._called, self.gold(asking), played["refused"]))
        part = () if self._split == self._of.split else (self._split,)
        self._counts.update(
            gold_calls=len(gold),
            gold_calls_refused=sum(call.refused for call in gold),
            tasks_with_outputs=bool(asking.outputs),
        )
        if asking.about:
            judged = NOTED in asking.about[BASIS] and bool(asking.about[STATEMENTS])
            self._counts["tasks_with_statements_to_judge"] += judged
        goal = Goal(
            asking.instruction,
            (Plan((Milestone(EndsAs((gold,))),)),),
            tuple(asking.outputs),
            self._offered,
            tuple(dict.fromkeys(call.tool for call in gold if call.tool in self._offered)),
        )
        persona: dict[str, Any] = {"goal": asking.instruction, "opening": True}
        return Task(
            "/".join((self._of.name, self._domain, *part, asking.id)),
            self._of.name,
            (goal,),
            rows_of(played["rows"]),
            persona=persona | ({"tools": self._users} if self._users else {}),
            split=self._split,
            tags={"domain": self._domain, "outputs": bool(asking.outputs)},
            metadata={"max_turns": self._of.turns, "user_id": asking.user_id, **asking.about},
            world=self._of.name,
            system=self._policy,
        )

    def _called(self, action: Mapping[str, Any], refused: bool) -> Called:
        arguments = {name: Argument((value,)) for name, value in action["kwargs"].items()}
        return (CallRefused if refused else Called)(self._tools[action["name"]], arguments)
