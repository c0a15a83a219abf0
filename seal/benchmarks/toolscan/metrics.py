"""The metric `toolscan` as printed, and figures of the paper's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from seal.core import JSON, Scale, Score
from seal.core.text import one_line
from seal.evaluation.goals import GoalChat, Value, no_gold, undefined
from seal.evaluation.pattern_scores import IAC_UPSTREAM, NO_CALL, PATTERNS, ErrorPatterns
from seal.pools.counts import environments_of
from seal.pools.declarations import PublishedTable, shipped_rows
from seal.pools.importer import PSEUDO_ACTIONS
from seal.pools.pool import StoredPool
from seal.report.lanes import Lane, scores_so_far, trajectories_so_far
from seal.report.paper import Figures
from seal.report.pattern_section import COLUMNS

# -- The metric `toolscan`: the seven patterns and success as ToolScan's tables print them.
#
# Where no call was made ToolScan's code gives 0 for each pattern, so that means are over all goals.
# All of its queries need calls. A goal that needs none, or has no gold, has none of these values
# here, whatever the agent does: else who calls nothing would fail it, and who calls anything would
# leave it out. Whether a task was solved, our `pass_rate` tells.
#
# Source: Kokane et al., ToolScan (2024), Table 4 and evaluation code.


class AsPublished(ErrorPatterns):
    """The seven patterns and success as ToolScan's code has them.

    - toolscan_iac, toolscan_rac, toolscan_iav, toolscan_ife, toolscan_iat, toolscan_ian,
      toolscan_ifn: the pattern, and 0 where no call was made.
    - toolscan_success: the mean of all seven of a finished goal, else 0. It does not tell whether a
      task was solved.
    """

    names = tuple(f"toolscan_{name}" for name in (*PATTERNS, "success"))
    scales = dict.fromkeys(names, Scale(gold_is_best=True))

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        reason = no_gold(goal.goal)
        if reason:
            return dict.fromkeys(self.names, undefined(reason))
        found = super().measure(goal)
        found["iac"] = found[IAC_UPSTREAM]
        if found["ife"].reason == NO_CALL:
            found |= dict.fromkeys(PATTERNS, Value(0.0, reason=NO_CALL))
        found["success"] = _success(found)
        return {f"toolscan_{name}": found[name] for name in (*PATTERNS, "success")}


def _success(found: Mapping[str, Value]) -> Value:
    if not found["finished"].value:
        return found["finished"]
    lacking = [found[name] for name in PATTERNS if found[name].value is None]
    values = [found[name].value or 0.0 for name in PATTERNS]
    return lacking[0] if lacking else Value(sum(values) / len(values))


# -- The tables of ToolScan, of a run or of a pool.
#
# - Table 1: what benchmarks offer, and how many queries.
# - Table 2: the patterns with examples.
# - Table 3: queries, turns and APIs by environment.
# - Table 4: success and the seven patterns, by the denominators of ToolScan's code (`AsPublished`),
#   and by ours.
# - The ablation on the similarity of API names, which the paper draws.
# - Table 9 is a chat in which an agent is told of its errors; ours has each pattern's.
#
# Source: Kokane et al., ToolScan (2024).

_ROWS = shipped_rows(__package__)
_PUBLISHED = {
    "Success Rate": "toolscan_success",
    **{name.upper(): f"toolscan_{name}" for name in PATTERNS},
}
"""Heading of Table 4 to our metric by the denominators of ToolScan's code."""
_LONGEST = 160
"""Characters of an example."""
_TAG = "environment="
_PRINTED = {
    **{name.lower(): name for name in _ROWS["table-3"]},
    "videoimages": "Video Images",
    "video_images": "Video Images",
}
"""Environment, by its category of tools, to the paper's row of Table 3."""
_WHOLE = "ToolScan"


def _patterns(lane: Lane) -> Figures:
    """Return pattern to its errors, the goals that have one, and the first of them."""
    errors: Counter[str] = Counter()
    goals: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for score, finding in _errors(lane):
        name = score.metric
        errors[name] += score.details["errors"]
        goals[name] += 1
        examples.setdefault(name, _example(score, finding))
    return {
        name.upper(): {"errors": errors[name], "goals": goals[name], "example": examples.get(name)}
        for name in PATTERNS
        if lane.estimate(name).n
    }


def _errors(lane: Lane) -> Iterator[tuple[Score, dict[str, JSON]]]:
    """Yield each score with errors and its first finding."""
    for score in scores_so_far(lane.run, PATTERNS):
        if score.details.get("errors"):
            yield score, next(iter(score.details.get("findings") or ()), {})


def _example(score: Score, finding: dict[str, JSON]) -> str:
    """Return what is wrong, and where it stands."""
    faults = finding.get("faults")
    told = [
        f"{fault['kind']} {fault['name']}: expected {fault['expected']}, got {fault['received']}"
        for fault in (faults if isinstance(faults, list) else ())[:1]
        if isinstance(fault, dict)
    ]
    what = [str(finding[key]) for key in ("name", "cause") if finding.get(key)] + told
    return one_line(f"{score.task_id}: {', '.join(what) or 'words'}", _LONGEST)


def _feedback(lane: Lane) -> Figures:
    """Return pattern of a call to what the agent was answered after the first error of it."""
    first: dict[tuple[str, int, str], str] = {}
    for score, finding in _errors(lane):
        key = (score.task_id, score.trial, str(finding.get("call")))
        if finding.get("call") and score.metric.upper() not in first.values():
            first.setdefault(key, score.metric.upper())
    found: dict[str, dict[str, str]] = {}
    for chat in trajectories_so_far(lane.run):
        for step, answer in chat.calls():
            name = first.get((chat.task_id, chat.trial, step.call.id if step.call else ""))
            if name is not None and answer is not None:
                error = answer.result.error if answer.result is not None else None
                said = str((error or {}).get("message") or answer.content)
                found[name] = {"what the agent is told": one_line(said, _LONGEST)}
    return {name.upper(): found[name.upper()] for name in PATTERNS if name.upper() in found}


def _offered(pool: StoredPool) -> Figures:
    """Return Table 1 of a pool: its queries, and whether several ways lead to one's answer."""
    goals = [goal for task in pool.tasks() for goal in task.goals]
    several = sum(len(goal.plans or ()) > 1 for goal in goals)
    return {
        "": {
            "Multiple Ground Truth Trajectories": f"{several} of {len(goals)} queries",
            "Number of Tool-Use Queries": len(goals),
        }
    }


def _counted(pool: StoredPool) -> Figures:
    """Return Table 3 of a pool; its last row has the sum of queries, and means over rows."""
    found = {
        _PRINTED.get(each.name.lower(), each.name): {
            "Sampled Queries": each.queries,
            "Avg. Turns": each.gold_calls,
            "Avg. APIs": each.gold_tools,
        }
        for each in environments_of(pool)
        if each.queries
    }
    means = {
        heading: [row[heading] for row in found.values()] for heading in ("Avg. Turns", "Avg. APIs")
    }
    whole = {heading: _mean(values) for heading, values in means.items()}
    queries = sum(row["Sampled Queries"] or 0 for row in found.values())
    return {**found, _WHOLE: {"Sampled Queries": queries, **whole}} if found else {}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _by_similarity(lane: Lane) -> Figures:
    """Return environment to the similarity of its API names, the least first, and its patterns.

    An environment has one J_avg, that of all names of its pool with the pseudo actions. A run that
    an earlier version played does not tell these, and so has none.
    """
    found: dict[str, dict[str, float | None]] = {}
    told = lane.run.manifest().get(PSEUDO_ACTIONS)
    places = environments_of(StoredPool(lane.run.path), told or {})
    if told is None:
        places = [replace(e, similarity_strict=None, similarity_stopwords=None) for e in places]
    named = [each for each in places if each.queries]
    for each in sorted(named, key=lambda one: one.similarity_strict or 0.0):
        found[each.name] = {
            "J_avg strict": each.similarity_strict,
            "J_avg stopwords": each.similarity_stopwords,
            **{n.upper(): lane.estimate(n, _TAG + each.name).mean for n in PATTERNS},
        }
    return found


_ABLATED = (
    "runs of ablations can be given too: seal ablate feedback|format|irrelevance toolscan --out DIR"
)


def _results(
    name: str, by: str, columns: Mapping[str, str], needs: Mapping[str, str]
) -> PublishedTable:
    """Return Table 4 with our metrics of one reading."""
    return PublishedTable(
        f"Success and freedom of error patterns, {by}",
        "ToolScan, Table 4",
        _ROWS["table-4"],
        columns,
        name=name,
        needs=needs,
    )


TABLES = (
    PublishedTable(
        "What benchmarks offer",
        "ToolScan, Table 1",
        _ROWS["table-1"],
        figures=_offered,
        of="pool",
        needs={"": "nothing: what a pool's files do not tell is not counted"},
    ),
    PublishedTable(
        "The error patterns: errors, goals with one, and the first",
        "ToolScan, Table 2",
        figures=_patterns,
        needs={"": "seal run toolscan", "example": "an agent that errs: -M slips=0.5 offline"},
    ),
    PublishedTable(
        "Environments: queries, mean turns (of ours, calls of the gold) and APIs of a query",
        "ToolScan, Table 3",
        _ROWS["table-3"],
        figures=_counted,
        of="pool",
        needs={"": "seal import toolscan FILE --out POOL, of queries; upstream released none"},
    ),
    _results(
        "table-4",
        "by the published denominators",
        _PUBLISHED,
        {"": f"seal score RUN --metric toolscan; {_ABLATED}"},
    ),
    _results(
        "table-4-by-calls",
        "none where no call was made",
        {"Success Rate" if head == "SR" else head: metric for head, metric in COLUMNS.items()},
        {
            "Success Rate": "a judge that can decide: --judge llm --judge-model MODEL",
            "": f"seal run toolscan; {_ABLATED}",
        },
    ),
    PublishedTable(
        "Error patterns by similarity of API names",
        "ToolScan, ablation on API complexity",
        name="figure-similarity",
        figures=_by_similarity,
        needs={"": "seal run toolscan, with tasks that name their environment"},
        drawn="bars",
    ),
    PublishedTable(
        "What an agent is told of its errors",
        "ToolScan, Table 9",
        figures=_feedback,
        needs={"": "an agent that errs, and is told: seal run toolscan --feedback on"},
    ),
)
