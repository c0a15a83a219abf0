"""Lint of a pool: its tasks and plans, its tools, and values that nobody can know."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from seal.core import (
    JSON,
    CodeRefusedError,
    DataError,
    InfrastructureError,
    OverdueError,
    Plan,
    SealError,
    Tables,
    Task,
    Tool,
    Trajectory,
    UsageError,
    shortened,
)
from seal.core.concurrency import in_time, within
from seal.core.conditions import Called
from seal.core.environment import EnvironmentFactory, Held, Timed
from seal.core.records import read_records
from seal.core.schema_faults import schema_faults
from seal.core.settings import checked_names
from seal.core.state_conditions import (
    GOLD_ENDS,
    EndsAs,
    FinalState,
    cell_fault,
    typed_columns,
)
from seal.core.text import counted, goal_name, words
from seal.environments import REGISTRY as WORLDS
from seal.environments.function_tools import fits
from seal.environments.gold_play import NO_WORLD, End, faults, gold_calls, gold_chat, gold_ends
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.evaluation.goals import TaskChat, asks_of_world, match_of
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.plans import check_plan
from seal.evaluation.words import slots_for
from seal.pools.importer import RECORDED, RIGHT, TRAJECTORIES, WRONG
from seal.pools.lint_calls import MOST_CALLS, forbidden, unbroken, unmarked_writes
from seal.pools.lint_findings import (
    KINDS,
    Finding,
    ReadPool,
    conditions_of,
    doubt,
    read_leniently,
    ungrounded_values,
)
from seal.pools.observations import contradictions
from seal.pools.own_benchmark import GoldCheck, reference_faults
from seal.pools.pool import named_tools
from seal.retrievers.base import documents, names
from seal.retrievers.base import shortened_document as cut

# -- Tools that a retriever cannot tell apart, or that say nothing of themselves.
#
# A description is judged by its words alone, whatever their case (`seal.core.text.words`); the
# first that applies is found:
#
# - empty: no letter and no digit, such as "" or "-";
# - placeholder: nothing but words of `PLACEHOLDERS`;
# - name: the words of the tool's own name, or of the service's and its own;
# - short: at most `SHORT` characters.
#
# Near duplicates are each pair above a threshold, exactly. Two documents are as alike as
# rapidfuzz's normalised indel ratio says: 100 less the share, in per cent, of characters to insert
# or delete. Documents whose lengths lie too far apart cannot reach the threshold, and neither can
# those whose letters differ too often; the others are compared.

SHORT = 15
"""Characters of a short description, without blanks around it."""
PLACEHOLDERS = frozenset({
    "a", "api", "available", "bar", "default", "desc", "descr", "description", "dummy", "empty",
    "endpoint", "example", "foo", "function", "ipsum", "lorem", "method", "n", "na", "nil", "no",
    "none", "not", "null", "placeholder", "string", "tba", "tbd", "test", "testing", "tests",
    "text", "todo", "tool", "undefined", "unknown", "xxx",
})  # fmt: skip
"""Words that say nothing of what a tool does."""


def broken_schemas(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each place of a tool's parameters that is no JSON Schema."""
    for tool in tools:
        for fault in schema_faults(tool.parameters):
            message = f"tool {tool.id!r}: parameters.{fault.path}: {fault.text}"
            yield Finding("broken_schema", message, tools=(tool.id,), evidence=fault._asdict())


def descriptions(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each tool whose description says little or nothing."""
    for tool in tools:
        kind = description_fault(tool)
        if kind is not None:
            told = shortened(tool.description)
            message = f"tool {tool.id!r}: the description is {told}"
            yield Finding(
                kind, message, tools=(tool.id,), evidence={"description": tool.description}
            )


def description_fault(tool: Tool) -> str | None:
    """Return the kind of finding that a tool's description is, or None."""
    told = words(tool.description)
    if not told:
        return "empty_description"
    if PLACEHOLDERS.issuperset(told):
        return "placeholder_description"
    service, api = names(tool)
    if told in (words(tool.name), words(api), words(f"{service} {api}")):
        return "name_description"
    return "short_description" if len(tool.description.strip()) <= SHORT else None


def duplicates(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each group of tools with one name and one description.

    The name is the API's own, as upstream has it; case and blanks do not count. Tools without a
    description count too: then their names alone are the same.
    """
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for tool in tools:
        groups[plain(names(tool).api), plain(tool.description)].append(tool.id)
    for (name, description), ids in groups.items():
        if len(ids) > 1:
            evidence = {"name": name, "description": description, "tools": len(ids)}
            message = f"{len(ids)} tools share the name {shortened(name)} and their description"
            yield Finding("duplicate_tool", message, tools=tuple(ids), evidence=evidence)


def plain(text: str) -> str:
    """Return a text as duplicates compare it: case folded, blanks collapsed."""
    return " ".join(text.casefold().split())


THRESHOLD = 90.0
COMPARED = 300
"""Characters of a document that are compared."""
NEAREST = 10
"""Pairs of one tool, the most alike; a family of a hundred equal documents has 4,950."""
_BLOCK = 256
_LETTERS = 32
"""Columns of a text's letter counts; letters that share one are taken as equal."""
_ROUNDING = 1e-6
"""Edits that a bound may err by."""


class TextPair(NamedTuple):
    """Two texts by position, the first of them before the second."""

    left: int
    right: int
    ratio: float


def near_duplicates(tools: Sequence[Tool], threshold: float = THRESHOLD) -> Iterator[Finding]:
    """Yield a finding for each pair of tools with nearly the same document, the likest first.

    The document is the retrievers' default one ("tool api: description"). Tools without a
    description are left out, for their names alone would be compared.

    Args:
        tools: The tools.
        threshold: Least ratio, in (0, 100].
    """
    described = [tool for tool in tools if description_fault(tool) != "empty_description"]
    texts = [cut(plain(text), COMPARED) for text in documents(described)]
    found: Counter[int] = Counter()
    for left, right, ratio in sorted(
        pairs(texts, threshold), key=lambda pair: (-pair.ratio, pair.left, pair.right)
    ):
        if max(found[left], found[right]) >= NEAREST:
            continue
        found.update((left, right))
        ids = (described[left].id, described[right].id)
        message = f"the documents of {ids[0]!r} and {ids[1]!r} are {ratio:.0f} % the same"
        evidence = {"ratio": round(ratio, 2), "documents": [texts[left], texts[right]]}
        yield Finding("near_duplicate_tool", message, tools=ids, evidence=evidence)


def pairs(texts: Sequence[str], threshold: float) -> Iterator[TextPair]:
    """Yield every two texts whose ratio is at least the threshold, in (0, 100]."""
    from rapidfuzz import fuzz, process

    order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
    for lefts, rights in _candidates([texts[position] for position in order], threshold):
        ratios = process.cpdist(
            [texts[order[left]] for left in lefts],
            [texts[order[right]] for right in rights],
            scorer=fuzz.ratio,
            score_cutoff=threshold,
            dtype=np.float64,
        )
        for left, right, ratio in zip(lefts, rights, ratios, strict=True):
            if ratio >= threshold:
                first, second = sorted((order[left], order[right]))
                yield TextPair(first, second, float(ratio))


def _candidates(
    texts: Sequence[str], threshold: float
) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Yield the positions of pairs that may reach the threshold, block by block.

    Args:
        texts: In the order of their lengths.
        threshold: A ratio of 100 (1 - d / (a + b)), where a and b are the lengths and d is the
            number of edits. d is at least |a - b|, and at least the sum of the differences between
            the two counts of each letter: an edit changes one count by one.
    """
    lengths = np.array([len(text) for text in texts])
    letters = np.array([_letter_counts(text) for text in texts]).reshape(-1, _LETTERS)
    allowed = 1 - threshold / 100
    for start in range(0, len(texts), _BLOCK):
        stop = min(start + _BLOCK, len(texts))
        longest = lengths[stop - 1] * (1 + allowed) / (1 - allowed)
        end = int(np.searchsorted(lengths, longest, side="right"))
        edits = sum(
            np.abs(np.subtract.outer(block, others))
            for block, others in zip(letters[start:stop].T, letters[start:end].T, strict=True)
        )
        totals = lengths[start:stop, None] + lengths[None, start:end]
        near = edits <= totals * allowed + _ROUNDING
        rows, columns = np.nonzero(np.triu(near, 1))
        yield rows + start, columns + start


def _letter_counts(text: str) -> np.ndarray[Any, Any]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return np.bincount(codes % _LETTERS, minlength=_LETTERS)


# -- Lint: faults of a pool, as findings.


@checked_names
@dataclass(frozen=True, slots=True)
class LintReport:
    """What lint found in one pool."""

    tasks: int
    """Tasks that could be read."""
    tools: int
    """Tools that could be read."""
    findings: tuple[Finding, ...]
    """In the order of `KINDS`."""

    def counts(self) -> dict[str, int]:
        """Return the number of findings of each kind that was found, in the order of `KINDS`."""
        return dict(Counter(finding.kind for finding in self.findings))

    def to_json(self) -> dict[str, JSON]:
        """Return the report with every finding."""
        return {
            "tasks": self.tasks,
            "tools": self.tools,
            "counts": self.counts(),
            "findings": [
                {"kind": found.kind, "severity": found.severity, **asdict(found)}
                for found in self.findings
            ],
        }


class Place(NamedTuple):
    """Where gold calls are tried."""

    environments: EnvironmentFactory
    tools: Mapping[str, Tool]
    """By id, those that run there."""


def lint(
    folder: Path,
    threshold: float = THRESHOLD,
    allow_code: Collection[str] = (),
    worlds: Callable[[str], Any] | None = None,
    functions: Place | None = None,
) -> LintReport:
    """Return what is wrong or doubtful in a pool folder.

    Args:
        folder: With tools.jsonl and tasks.jsonl; lines that are no record are findings.
        threshold: Least likeness of near duplicates, in (0, 100] (`seal.pools.lint`).
        allow_code: Modules into which tasks may name their worlds by a dotted path; other code is
            not loaded, which is a finding.
        worlds: Gives the environments of benchmarks by name (`environments_beside`); None: only
            registered worlds are known.
        functions: Where the tools run that are the benchmark's own functions; None: it has none.

    Raises:
        UsageError: The threshold is not in (0, 100].
    """
    if not 0 < threshold <= 100:
        raise UsageError(f"threshold {threshold}: expected a number above 0 and up to 100")
    pool = read_leniently(folder)
    order = list(KINDS)
    unsorted = _findings(pool, threshold, PlanCheck(allow_code, worlds, functions))
    found = sorted(unsorted, key=lambda finding: order.index(finding.kind))
    return LintReport(len(pool.tasks), len(pool.tools), tuple(found))


def _findings(pool: ReadPool, threshold: float, plans: PlanCheck) -> Iterator[Finding]:
    yield from pool.findings
    yield from refused_worlds(pool.tasks.values(), plans.allow_code)
    check = GoldCheck(pool.tools)
    for task in pool.tasks.values():
        yield from missing_tools(task, pool.tools)
        yield from invalid_calls(task, pool.tools, check)
        yield from named_results(task)
        yield from observations(task, pool.tools)
        yield from _tried(task, plans)
        yield from ungrounded_values(task, pool.tools)
    yield from plans.unbroken_rules(pool.tasks.values())
    yield from misjudged(pool, plans)
    yield from same_queries(pool.tasks.values())
    yield from only_texts(pool.tasks.values())
    tools = list(pool.tools.values())
    yield from broken_schemas(tools)
    yield from duplicates(tools)
    yield from near_duplicates(tools, threshold)
    yield from descriptions(tools)
    yield from plans.unmarked_writes(pool)


LONGEST_S = 60.0
"""Seconds that the gold calls of a task may take to be tried."""


def _tried(task: Task, plans: PlanCheck) -> Sequence[Finding]:
    """Return what is found where the gold calls of a task are tried."""
    try:
        with within(LONGEST_S):
            return in_time(lambda: [*plans.broken_worlds(task)] or [*plans.of_task(task)])
    except OverdueError:
        message = f"task {task.id!r}: its gold takes longer than {LONGEST_S:.0f} s: a tool hangs"
        return [Finding("broken_world", message, (task.id,))]


# -- What words decide: recordings of which it is known whether they solve, and goals of texts.


def misjudged(pool: ReadPool, plans: PlanCheck) -> Iterator[Finding]:
    """Yield a finding for each recording that solves its task, or not, against its name."""
    for name in (RIGHT, WRONG):
        path = pool.folder / RECORDED / name / TRAJECTORIES
        try:
            chats = read_records(path, Trajectory) if path.is_file() else ()
            for chat in chats:
                if chat.task_id in pool.tasks:
                    yield from _misjudged(name, pool.tasks[chat.task_id], chat, pool.tools, plans)
        except DataError as error:
            yield Finding("malformed_line", str(error), evidence={"file": str(path.name)})


def _misjudged(
    name: str, task: Task, chat: Trajectory, tools: Mapping[str, Tool], plans: PlanCheck
) -> Iterator[Finding]:
    ends = plans.ends(task)
    if ends is not None:
        chat = replace(chat, provenance={**chat.provenance, GOLD_ENDS: ends})
    scores = PassRate().of(TaskChat(task, chat, tools))
    lacks = [score.reason or str(score.details["reason"]) for score in scores if score.value != 1.0]
    if bool(lacks) is (name == RIGHT):
        why = chat.provenance.get("why")
        about = f" ({shortened(why)})" if why else ""
        message = f"task {task.id!r}: {name} {chat.trial}{about}: "
        message += f"not solved: {lacks[0]}" if lacks else "it solves the task"
        evidence: dict[str, JSON] = {"recording": name, "trial": chat.trial}
        yield Finding("misjudged", message, (task.id,), evidence=evidence)


def only_texts(tasks: Iterable[Task]) -> Iterator[Finding]:
    """Yield a finding for all goals that have only texts to tell."""
    found = []
    goals = ((task, goal) for task in tasks for goal in task.goals)
    for task, goal in goals:
        slots = [slot for told in slots_for(goal) for slot in told]
        if slots and all(slot.type == "text" for slot in slots):
            found.append(task.id)
    if found:
        message = (
            f"{counted(len(found), 'goal')} {'has' if len(found) == 1 else 'have'} only texts to "
            "tell, whose words a rule cannot always decide; name values in `tells`"
        )
        ids = tuple(dict.fromkeys(found))
        yield Finding("only_texts", message, ids, evidence={"goals": len(found)})


# -- Tasks and plans that cannot be played or scored as they stand, and texts that stand twice.


def missing_tools(task: Task, tools: Mapping[str, Tool]) -> Iterator[Finding]:
    """Yield a finding for each tool that the task names and the pool lacks."""
    roles: dict[str, str] = {}
    for role, tool in named_tools(task):
        roles.setdefault(tool, role)
    for tool, role in roles.items():
        if tool not in tools:
            message = f"task {task.id!r} has the {role} tool {tool!r}, which the pool lacks"
            yield Finding("missing_tool", message, (task.id,), (tool,), {"role": role})


def invalid_calls(task: Task, tools: Mapping[str, Tool], check: GoldCheck) -> Iterator[Finding]:
    """Yield a finding for each gold call that its tool's schema refuses (`GoldCheck.refused`)."""
    for goal, call in _gold_calls(task):
        refused = check.refused(call) if call.tool in tools else None
        if refused is not None:
            error = refused.error
            told = f"the gold call of {call.tool!r}: {error.message}"
            message = f"task {task.id!r}, {goal_name(goal)}: {told}"
            evidence = {"goal": goal, "arguments": refused.arguments}
            evidence |= {"error": error.kind, "argument": error.name}
            yield Finding("invalid_call", message, (task.id,), (call.tool,), evidence)
    for fault in reference_faults(task, tools):
        yield Finding("invalid_call", f"task {task.id!r}: {fault}", (task.id,))


_NAMED_RESULT = re.compile(r"API_call_[0-9]{1,3}|\$?var_?[0-9]{1,3}(?:\.\w{1,40}){0,5}\$?")
"""How Seal-Tools and NESTful write the result of an earlier call."""


def named_results(task: Task) -> Iterator[Finding]:
    """Yield a finding for each gold text that names the result of an earlier call."""
    for goal, call in _gold_calls(task):
        for name, argument in (call.arguments or {}).items():
            for text in (one for one in argument.listed if isinstance(one, str)):
                if _NAMED_RESULT.fullmatch(text):
                    message = (
                        f"task {task.id!r}, {goal_name(goal)}: {name} = {text!r} of "
                        f"{call.tool!r} names the result of a call, and only this text is "
                        'right; write {"$result_of": 1, "path": ""} with the number of the call, '
                        "from 1"
                    )
                    evidence: dict[str, JSON] = {"goal": goal, "argument": name, "value": text}
                    yield Finding("named_result", message, (task.id,), (call.tool,), evidence)


def _gold_calls(task: Task) -> Iterator[tuple[int, Called]]:
    for position, goal in enumerate(task.goals):
        if goal.labels.get("kind") == "request":
            continue  # no call is made: "?" stands for the arguments that the user has not given
        for plan in goal.plans or ():
            for call in plan.calls():
                yield position, call


def observations(task: Task, tools: Mapping[str, Tool]) -> Iterator[Finding]:
    """Yield a finding for each recorded result that cannot be (`seal.pools.observations`)."""
    for made, fault in contradictions(task, tools):
        message = f"task {task.id!r}, {goal_name(made.goal)}: the result of {made.tool!r}: {fault}"
        evidence: dict[str, JSON] = {"goal": made.goal, "arguments": dict(made.arguments)}
        yield Finding("observations", message, (task.id,), (made.tool,), evidence)


def same_queries(tasks: Iterable[Task]) -> Iterator[Finding]:
    """Yield a finding for each query text that stands twice, and for those of different labels.

    Texts are the same where their words are, whatever their case. Of a task with several goals the
    texts of all count as one, and so do their labels.
    """
    groups: defaultdict[tuple[str, ...], list[Task]] = defaultdict(list)
    for task in tasks:
        said = tuple(word for goal in task.goals for word in words(goal.text))
        if said:
            groups[said].append(task)
    for group in groups.values():
        if len(group) > 1:
            yield from _same(group)


def _same(group: list[Task]) -> Iterator[Finding]:
    ids = tuple(task.id for task in group)
    text = " / ".join(goal.text for goal in group[0].goals)
    evidence: dict[str, JSON] = {"text": text}
    yield Finding(
        "repeated_query", f"{len(ids)} tasks ask {shortened(text)}", ids, evidence=evidence
    )
    labels = {tuple(frozenset(goal.relevant) for goal in task.goals): task for task in group}
    if len(labels) > 1:
        tools = sorted({tool for label in labels for relevant in label for tool in relevant})
        message = (
            f"{len(ids)} tasks ask {shortened(text)} with {len(labels)} sets of relevant tools"
        )
        given = [[sorted(relevant) for relevant in label] for label in labels]
        yield Finding(
            "conflicting_labels", message, ids, tuple(tools), {**evidence, "labels": given}
        )


def refused_worlds(tasks: Iterable[Task], allow_code: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each world that is code of a module that is not allowed."""
    played: dict[str, list[str]] = {}
    for task in tasks:
        played.setdefault(task.world, []).append(task.id)
    for world, ids in played.items():
        try:
            WORLDS.check_named(world, f"task {ids[0]!r}", allow_code)
        except CodeRefusedError as error:
            yield Finding("refused_world", str(error), tuple(ids), evidence={"world": world})


def _unmeasurable(task: Task, goal: int, fault: str) -> Finding:
    message = f"task {task.id!r}, {goal_name(goal)}: {fault}"
    evidence: dict[str, JSON] = {"goal": goal, "fault": fault}
    return Finding("unmeasurable_plan", message, (task.id,), evidence=evidence)


class PlanCheck:
    """Finds the plans that have no score, in the worlds of their tasks.

    Args:
        allow_code: Modules into which tasks may name their worlds by a dotted path.
        own: Gives the environments of benchmarks by name.
        functions: Where gold calls of tasks are tried that are played in no world; None: nowhere.
    """

    def __init__(
        self,
        allow_code: Collection[str],
        own: Callable[[str], Any] | None,
        functions: Place | None = None,
    ) -> None:
        self.allow_code = allow_code
        self._functions = functions
        self._setup = WorldSetup(allow_code=allow_code, own=own)
        self._worlds: dict[str, Worlds | None] = {}
        self._ends: dict[str, JSON] = {}

    def broken_worlds(self, task: Task) -> Iterator[Finding]:
        """Yield a finding where the world of a task cannot begin as the task says."""
        world = self.world_of(task.world) if task.world else None
        try:
            if world is not None:
                world.check(task)
        except DataError as error:
            yield Finding("broken_world", str(error), (task.id,), evidence={"world": task.world})

    def of_task(self, task: Task) -> Iterator[Finding]:
        """Yield the findings of a task's gold; a call that cannot be played is one."""
        try:
            yield from self.findings(task)
            yield from self.failing_calls(task)
            yield from self.doubtful_gold(task)
            yield from self.forbidden_gold(task)
        except InfrastructureError as error:
            yield Finding("failing_call", f"task {task.id!r}: {error}", (task.id,))

    def findings(self, task: Task) -> Iterator[Finding]:
        """Yield a finding for rules that there are not, and for each plan that has a fault.

        Which tables and columns there are, the task's world says; where it does not, none is known.
        """
        planned = [(n, goal.plans) for n, goal in enumerate(task.goals) if goal.plans]
        if not planned:
            return
        try:
            match_of(task)
        except DataError as error:
            yield Finding("unmeasurable_plan", str(error), (task.id,))
        state = self._state(task)
        for goal, plans in planned:
            for number, plan in enumerate(plans):
                try:
                    check_plan(plan, state, measured=True)
                except DataError as error:
                    message = f"task {task.id!r}, {goal_name(goal)}, plan {number + 1}: {error}"
                    evidence = {"goal": goal, "plan": number, "fault": str(error)}
                    yield Finding("unmeasurable_plan", message, (task.id,), evidence=evidence)
        yield from self._unplayable(task)

    def failing_calls(self, task: Task) -> Iterator[Finding]:
        """Yield a finding for the first gold call that fails where the task is played.

        The calls of all goals are made in their order: in a fresh world, or by the functions behind
        the tools. Goals whose gold accepts any arguments are left alone, and so are those after
        them.
        """
        plans = [next(iter(goal.plans or ()), Plan()) for goal in task.goals]
        place = self._place(task) if any(plan.calls() for plan in plans) else None
        if place is None:
            return
        with ExitStack() as ended:
            world = place.environments.open(task, 0, ())
            if isinstance(world, Held):
                ended.callback(world.close)
            if isinstance(world, Timed):
                world.tick()
            for position, plan in enumerate(plans):
                calls = [c for c in gold_calls(plan) if task.world or c.tool in place.tools]
                if any(call.arguments is None for call in calls):
                    return
                fault = next(filter(None, faults(calls, world, place.tools)), "")
                if fault:
                    message = f"task {task.id!r}, {goal_name(position)}: {fault}"
                    yield Finding("failing_call", message, (task.id,), evidence={"goal": position})
                    return

    def doubtful_gold(self, task: Task) -> Iterator[Finding]:
        """Yield a finding for each goal whose gold contradicts itself, or is met by doing nothing.

        The gold calls of all goals are made in a fresh world, where they work. Goals of which
        nothing is asked but calls and words are left alone.
        """
        asking = [
            n for n, goal in enumerate(task.goals) if any(map(asks_of_world, goal.plans or ()))
        ]
        place = self._place(task) if task.world and asking else None
        if place is None:
            return
        try:
            chat = gold_chat(task, lambda: place.environments.open(task, 0), place.tools)
            if chat is None:  # a call fails, which is told by itself
                return
            doubts = [(n, doubt(task, chat, place.tools, n)) for n in asking]
        except DataError:  # told already, as a plan that cannot be measured
            return
        for position, (kind, fault) in doubts:
            if fault:
                message = f"task {task.id!r}, {goal_name(position)}: {fault}"
                yield Finding(kind, message, (task.id,), evidence={"goal": position})

    def forbidden_gold(self, task: Task) -> Iterator[Finding]:
        """Yield a finding for each rule of its world's policy that a task's gold breaks."""
        world = self.world_of(task.world) if task.world else None
        for goal, why in forbidden(task, world) if world is not None else ():
            message = f"task {task.id!r}, {goal_name(goal)}: {why}; mend the gold, or the rule"
            yield Finding("forbidden_gold", message, (task.id,), evidence={"goal": goal})

    def unbroken_rules(self, tasks: Iterable[Task]) -> Iterator[Finding]:
        """Yield a finding for each rule of a policy that no call breaks in any world of a pool."""
        played: dict[str, list[Task]] = {}
        for task in tasks:
            played.setdefault(task.world or "", []).append(task)
        broken: list[Any] = []
        left: dict[Any, str] = {}
        for name in sorted(played, key=len):  # a joint world comes after its parts
            world = self.world_of(name) if name else None
            if world is None:
                continue
            try:
                found = unbroken(world, played[name], broken)
            except DataError:  # told already, as a world that cannot begin
                continue
            except InfrastructureError as error:
                yield Finding("broken_world", f"world {name!r}: {error}", evidence={"world": name})
                continue
            left.update(dict.fromkeys(found, name))
            broken += [r for r in world.policy if callable(r) and r not in found]
        for rule, name in left.items():
            if rule not in broken:
                message = (
                    f"world {name!r}: none of {MOST_CALLS:,} tried calls breaks the rule "
                    f"{rule.__name__}; mend it, or leave it out"
                )
                yield Finding("unbroken_rule", message, evidence={"world": name})

    def unmarked_writes(self, pool: ReadPool) -> Iterator[Finding]:
        """Yield a finding for tools of no world that seem to change something, and do not say so.

        Where a world is not known here, nothing is known of any tool.
        """
        worlds = [self.world_of(name) for name in {t.world for t in pool.tasks.values()} if name]
        shown = [world for world in worlds if world is not None and world.tables]
        if len(shown) == len(worlds):
            of_worlds = {tool.id for world in shown for tool in world.documents()}
            yield from unmarked_writes(pool.tools.values(), of_worlds)

    def ends(self, task: Task) -> JSON:
        """Return how the task's world ends after its gold calls, as a run keeps it; None: unknown.

        Each task is asked of once.
        """
        if task.id not in self._ends:
            world = self.world_of(task.world) if task.world else None
            self._ends[task.id] = None
            with suppress(InfrastructureError):  # told already, as a call that cannot be played
                self._ends[task.id] = None if world is None else _ends(task, world)
        return self._ends[task.id]

    def _place(self, task: Task) -> Place | None:
        """Return where the gold calls of a task are tried; None: nowhere."""
        if not task.world:
            return self._functions
        world = self.world_of(task.world)
        if world is None:  # nothing is known of it here
            return None
        return Place(world, {tool.id: tool for tool in world.documents()})

    def _unplayable(self, task: Task) -> Iterator[Finding]:
        """Yield a finding where gold says how a world ends, and that cannot be compared."""
        if not task.world:
            for position, goal in enumerate(task.goals):
                asked = (p for p in conditions_of(goal) if isinstance(p, EndsAs | FinalState))
                # Where the plan's own calls are gold, they are measured in a run without a world.
                if not all(isinstance(part, EndsAs) and part.of_plan for part in asked):
                    yield _unmeasurable(task, position, NO_WORLD)
            return
        world = self.world_of(task.world)
        if world is None:  # nothing is known of it here
            return
        for position, goal in enumerate(task.goals):
            rows = [p for p in conditions_of(goal) if isinstance(p, FinalState)]
            for fault in (f for one in rows for f in _unfit(one, world.columns.get(one.table))):
                yield _unmeasurable(task, position, fault)
        if not any(goal.asks_for_end for goal in task.goals):
            return
        tools = {tool.id: tool for tool in world.documents()}
        for number, of in gold_ends(task, lambda: world.open(task, 0), tools).items():
            for fault in dict.fromkeys(end.fault for ends in of.values() for end in ends):
                if fault:
                    yield _unmeasurable(task, int(number), fault)
            typed = [p for p in conditions_of(task.goals[int(number)]) if isinstance(p, EndsAs)]
            for fault in dict.fromkeys(f for one in typed for f in _untyped(one, of[one.key])):
                yield _unmeasurable(task, int(number), fault)

    def _state(self, task: Task) -> Tables | None:
        """Return the tables that a task begins with, each with a row of its declared columns."""
        if not task.world:
            return task.initial_state
        world = self.world_of(task.world)
        if world is None:
            return None
        try:
            tables = world.beginning(task)
        except SealError:
            return None
        found: Tables = {}
        for name, rows in tables.items():
            columns = dict.fromkeys(world.columns.get(name, {}))
            found[name] = [*rows, columns] if columns else rows
        return found

    def world_of(self, name: str) -> Worlds | None:
        """Return the kind of world of a name; None: it has no tables, or is not known here."""
        if name not in self._worlds:
            try:
                built = build_worlds(name, self._setup)
            except SealError:
                built = None
            self._worlds[name] = built if isinstance(built, Worlds) else None
        return self._worlds[name]


def _untyped(asked: EndsAs, ends: Iterable[End]) -> Iterator[str]:
    """Yield the cells that gold leaves in the world, and that are not of their type."""
    for table, change in ((t, c) for end in ends for t, c in end.changes.items()):
        for column, kind in typed_columns(table, asked.cells).items():
            for row in change.get("came", ()):
                if fault := cell_fault(kind, row.get(column)):
                    yield f"ends_as: cells: {table}.{column}: {fault}; leave it out of cells"


def _unfit(asked: FinalState, columns: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the cells of final rows that no column of their type can hold."""
    for row in asked.rows if columns else ():
        for name, value in row.items():
            kind = (columns or {}).get(name, Any)
            whole = isinstance(value, float) and value.is_integer() and fits(int(value), kind)
            truth = isinstance(value, bool) and {bool, object, Any}.isdisjoint(
                (kind, *get_args(kind))
            )
            if value is not None and (truth or not (whole or fits(value, kind))):
                yield (
                    f"FinalState: {asked.table}.{name}: {shortened(value)} is no "
                    f"{getattr(kind, '__name__', kind)}; give a value that the column holds"
                )


def _ends(task: Task, world: Worlds) -> JSON:
    tools = {tool.id: tool for tool in world.documents()}
    return {
        goal: {key: [end.to_json() for end in ends] for key, ends in of.items()}
        for goal, of in gold_ends(task, lambda: world.open(task, 0), tools).items()
    }
