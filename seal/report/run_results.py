"""What the terminal shows of a run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seal.agents.teams import CHECKER
from seal.core.secrets import IN_PLACE
from seal.core.text import counted, one_line, printable
from seal.evaluation.goals import INFRASTRUCTURE
from seal.evaluation.scoring import INSTRUCTION
from seal.evaluation.statistics import MOST_GROUPS
from seal.report.grids import Grid, frequent, tallied
from seal.report.lanes import (
    OTHERS,
    Lane,
    ShortTable,
    answer_of,
    caption_name,
    lanes_of,
    model_name,
    scale_notes,
    scores_so_far,
    summary_table,
    trajectories_so_far,
)
from seal.report.table_forms import latex_text
from seal.runs.costs import Budget
from seal.runs.run import FAILED_GOLD, LINES, NAMED, SILENT, RunFolder, all_crashed, spent_on

if TYPE_CHECKING:
    from seal.runs.play import Progress


# -- What the terminal shows of a run: its summary, its judges, and notes in plain lines.

ERRORS = 5
"""Most distinct error messages that are told."""
LONGEST = 300
"""Most characters of one."""
MANY_ERRORS = 0.01
"""Share of chats that may end with errors without a warning."""
_ANSWERED = {"error": "an error", "simulate": "the simulator", "empty": "nothing"}
_PLAYED = "trajectories.jsonl"
_ESTIMATED = " (estimated)"
"""Stands after tokens of which a server did not tell at least a part."""


def result_tables(run: RunFolder, every: bool = False, others: str = OTHERS) -> list[Any]:
    """Return what a run is known by, its summary, how its judges agree with people, and notes.

    Args:
        run: A scored run.
        every: All main metrics; else the first ones (`seal.report.lanes.ShortTable.first`).
        others: What shows the others.

    Raises:
        DataError: The run has not been scored.
    """
    means, summary = summary_table(run, every), run.summary()
    tables: list[Any] = [*answer_of(run), *([means] if means.rows else [])]
    if summary.get("audit"):
        from seal.report.judge_sections import judge_tables

        tables += judge_tables(summary)
    return [*tables, *summary_notes(run, every, others)]


def run_latex(run: RunFolder, parts: Iterable[Any]) -> str:
    """Return parts as LaTeX, the table of means with a label, and a caption that says what it has.

    Args:
        run: Whose parts they are; the label is made of the name of its folder.
        parts: As of `result_tables`; what is neither a table nor a line is left out.
    """
    lanes = lanes_of([run])
    beside = [f"{lane.kind}: {model_name(lane.run)}" for lane in lanes if lane.kind != "run"]
    scales = ShortTable(lanes).scales

    def caption(grid: Grid) -> str:
        told = f"{caption_name(run)}: means with 95 % intervals"
        return "; ".join([told, *beside, *scale_notes((row[0] for row in grid.rows), scales)])

    label = "tab:" + _NO_LABEL.sub("-", run.path.resolve().name).strip("-")
    return latex_text(
        (part._replace(title=caption(part)), label)
        if isinstance(part, Grid) and not part.title
        else (part, "")
        for part in parts
        if isinstance(part, Grid | str)
    )


_NO_LABEL = re.compile("[^A-Za-z0-9]+")


def summary_notes(run: RunFolder, every: bool = False, others: str = OTHERS) -> list[str]:
    """Return the lines below `summary_table`, printable; the terminal wraps them.

    They tell counts of tasks and stop reasons, and the metrics without any value, with the reason.
    If tasks failed, they tell the errors with their counts, and how to see one of the chats.

    Args:
        run: A run that has been scored.
        every: The table has all main metrics.
        others: What shows those that it leaves out.
    """
    short = ShortTable(lanes_of([run]))
    summary = run.summary()
    lines = [
        _counts(summary),
        *(short.gaps() if every else short.first_gaps(others)),
        *_users(run, summary),
        *_silent(run, summary),
        *named_notes(run.manifest()),
        *outcome_notes(summary),
        *(note for lane in run.baselines().values() for note in gold_notes(lane.summary())),
        *_judged(summary),
        *_set_elsewhere(run),
        *(
            f"{role} asked {model} by itself: no replay of this run can answer for it"
            for role, model in sorted((summary.get("own_models") or {}).items())
        ),
        *_errors(run, summary),
    ]
    return [printable(line) for line in dict.fromkeys(lines)]


def outcome_notes(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a reader must know of a run's outcomes: errors, cut answers, spoilt chats.

    Args:
        summary: Of a run.
    """
    errors, played = summary.get("errors", 0), (summary.get(LINES) or {}).get(_PLAYED, 0)
    if errors > MANY_ERRORS * played:
        yield (
            f"warning: {errors:,} of {counted(played, 'chat')} ended with errors, which no mean "
            "counts; 'with errors' counts them as failures"
        )
    if all_crashed(summary):
        crashes = summary.get("crashes") or {}
        reason = one_line(max(crashes, key=crashes.__getitem__, default="of no known reason"), 150)
        yield f"warning: the agent crashed in every chat; mend it and play again: {reason}"
    yield from gold_notes(summary)
    if full := (summary.get("stop_reasons") or {}).get("context_overflow"):
        yield (
            f"{counted(full, 'goal')} ended as the window was full; a larger one of the server, or "
            "--top-k N, makes room"
        )
    if cut := summary.get("truncated"):
        yield f"answers cut at a limit of tokens: {tallied(cut)}"
    if empty := summary.get("empty_answers"):
        yield f"empty answers, which count as the model's: {tallied(empty)}"
    if uncounted := summary.get("uncounted"):
        yield (
            f"{counted(uncounted, 'answer')} with words, though the server counts no token of "
            "them; are they errors of a gateway? Then play with another --cache-dir"
        )
    yield from text_call_notes(summary)
    if repaired := dict(summary.get("repaired") or {}):
        calls = counted(repaired.pop("calls", 0), "call")
        yield f"{calls} repaired to be read: {tallied(repaired)}"
    if unknown := summary.get("unknown_ends"):
        told = ", ".join(f"{word!r} {count:,}" for word, count in unknown.items())
        yield f"answers that ended by an unknown word, and count as they stand: {told}"
    if unrecorded := summary.get("unrecorded"):
        yield unrecorded_note(unrecorded)
    yield from _taken_as_made(summary)
    if starred := summary.get("starred"):
        yield (
            f"warning: a service's key or password stood in {counted(starred, 'chat')}, and is "
            f"{IN_PLACE} there; if it is a word of the benchmark, give the server another key"
        )
    if left_out := summary.get("groups_left_out"):
        yield (
            f"breakdowns by tag have the {MOST_GROUPS:,} groups of the most tasks; left out: "
            f"{counted(left_out, 'group')}"
        )
    if spoilt := summary.get("spoilt"):
        repair = (
            "out of the scores"
            if summary.get("without_spoilt")
            else "--without-spoilt leaves them out"
        )
        yield f"{counted(spoilt, 'chat')} spoilt by errors of the user ({repair})"


_OF_THINKING = (
    "start the server with the parser of this model's thinking, or with none, and play with "
    "another --cache-dir"
)


def text_call_notes(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many answers hold what the server left in the text, and what to do."""
    found = summary.get("calls_in_text") or {}
    if marked := found.get("marks"):
        holds = "holds" if marked == 1 else "hold"
        yield (
            f"warning: {counted(marked, 'answer')} {holds} an end mark of the chat template; name "
            """it to the server, as in -M 'stop=["<|im_end|>"]'"""
        )
    if left := found.get("left"):
        holds = "holds" if left == 1 else "hold"
        yield (
            f"warning: {counted(left, 'answer')} {holds} a call as text: the server parses none; "
            "use --format json, or a parser and a new --cache-dir"
        )
    if swallowed := found.get("thoughts"):
        holds = "holds" if swallowed == 1 else "hold"
        yield (
            f"warning: {counted(swallowed, 'answer')} {holds} a call as text in the thinking, and "
            f"nothing else: {_OF_THINKING}"
        )
    if thought := found.get("thought"):
        yield (
            f"{counted(thought, 'answer')} with thinking alone; if an answer stands in it, "
            f"{_OF_THINKING}"
        )
    if escaped := found.get("escaped"):
        yield (
            f"{counted(escaped, 'answer')} with characters such as &amp; in the arguments of a "
            "call; they count as they stand, whether the model or its server wrote them so"
        )
    if read := found.get("read"):
        yield (
            f"{counted(read, 'answer')} held a call as text, which was read as the model's family "
            "writes it; -M profile=plain leaves it text"
        )


def _taken_as_made(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many calls count as made though nothing came of them."""
    unserved, unanswered = summary.get("unserved") or {}, summary.get("unanswered") or 0
    causes = tallied(unserved)
    told = [f"{sum(unserved.values())} that a service could not serve ({causes})"] if causes else []
    told += [f"{unanswered} without a result"] if unanswered else []
    if told:
        yield f"calls that count as made though nothing came of them: {', '.join(told)}"


def gold_notes(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield which gold calls failed when the model `oracle` played them."""
    if found := summary.get(FAILED_GOLD):
        failed = counted(sum(found.values()), "gold call")
        told = frequent(found, ERRORS, LONGEST)
        yield f"warning: {failed} failed when played; mend the gold or the tool: {told}"


def unrecorded_note(found: Mapping[str, Any]) -> str:
    """Return how many calls asked what no recording holds, what answered, and what was asked."""
    answered = ", ".join(f"{_ANSWERED[how]} {count:,}" for how, count in found["answered"].items())
    asked = frequent(found["questions"], ERRORS, LONGEST)
    return (
        f"unrecorded: {counted(found['calls'], 'call')} (share {found['share']:.3f}) asked what no "
        f"recording holds; answered by {answered} (--unrecorded): {asked}"
    )


def _set_elsewhere(run: RunFolder) -> Iterator[str]:
    """Yield how the baselines were judged or simulated otherwise, and what the pool gave."""
    manifest = run.manifest()
    measured = manifest.get("measure") or {}
    others = [baseline.manifest().get("measure") or {} for baseline in run.baselines().values()]
    differ = [n for n in ("judge", "simulator") if any(m.get(n) != measured.get(n) for m in others)]
    if differ:
        yield (
            f"floor and ceiling have another {' and '.join(differ)}: rules and the template, which "
            "cost nothing"
        )
    known = manifest["measure"] | manifest["system"]
    origins = (manifest.get("origins") or {}).items()
    given = {n: known[n] for n, origin in origins if origin == "benchmark" and n in known}
    given |= manifest.get("pool_defaults") or {}  # of runs before there were origins
    if given:
        told = ", ".join(f"--{name} {value}" for name, value in given.items())
        yield f"set by the benchmark, and a flag replaces it: {told}"


def missing_notes(lanes: Sequence[Lane]) -> list[str]:
    """Return which files of scored runs are missing, what the report then lacks, and the repair.

    Args:
        lanes: Runs beside their baselines.
    """
    notes = []
    for lane in lanes:
        path, played = lane.run.path, lane.run.trajectories_path.is_file()
        if not played:
            notes.append(
                f"{path} has no trajectories.jsonl: no chat of it can be shown; bring the file "
                "back, or play the run again"
            )
        if not lane.run.scores_path.is_file():
            repair = f"write it: seal score {shlex.quote(str(path))}" if played else "bring it back"
            notes.append(f"{path} has no scores.jsonl: its chats have no outcome; {repair}")
    return notes


def _counts(summary: Mapping[str, Any]) -> str:
    parts = [counted(summary.get("tasks", 0), "task"), counted(summary.get("errors", 0), "error")]
    if summary.get("skipped"):
        parts.append(f"{summary['skipped']} skipped")
    if summary.get("unfinished"):
        parts.append(f"{summary['unfinished']} unfinished")
    stops = summary.get("stop_reasons") or {}
    ended = tallied(dict(sorted(stops.items())))
    return ", ".join(parts) + (f"; goals ended by {ended}" if ended else "")


def _users(run: RunFolder, summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the simulated users did wrong, where there were any."""
    if INSTRUCTION in (summary.get("metrics") or ()):
        from seal.report.judge_sections import user_notes

        yield from user_notes(run)


def _silent(run: RunFolder, summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield which seated roles spoke in no chat."""
    user = (run.manifest().get("measure") or {}).get("user", _GOAL)
    for role in summary.get(SILENT) or ():
        why = ", as a user answers" if role == CHECKER and user != _GOAL else ""
        yield f"{role} spoke in no chat{why}; --role {role}=none leaves it out"


def named_notes(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield which models answers named, where these are several, or another than was asked.

    Args:
        manifest: Of a run.
    """
    for model, names in (manifest.get(NAMED) or {}).items():
        if len(names) > 1:
            yield f"{model}: answers name several models, {', '.join(names)}"
            continue
        from seal.core.outcomes import is_same_model

        asked = model.partition("/")[2].partition(",")[0]
        if names and not is_same_model(asked, names[0]):
            yield f"{model}: answers name the model {names[0]}; all count as those of {asked}"


_GOAL = "goal"
"""Who plays the user where nobody answers (`measure.user`)."""


def _judged(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield what judges agreed on, where there were any."""
    if summary.get("judging") or summary.get("audit"):
        from seal.report.judge_sections import judging_notes

        yield from judging_notes(summary)


def error_notes(
    reasons: Mapping[str, int], most: int = ERRORS, what: str = "error"
) -> Iterator[str]:
    """Yield the errors of a run, the most frequent first.

    Args:
        reasons: Message to the number of chats that failed for it.
        most: Distinct messages that are told.
        what: Of which kind they are.
    """
    ordered = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    for message, count in ordered[:most]:
        yield f"{what} in {counted(count, 'chat')}: {one_line(message, LONGEST)}"
    if len(ordered) > most:
        yield f"and {counted(len(ordered) - most, f'other {what}')}; summary.json has all"


def _errors(run: RunFolder, summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the errors and crashes, and the command that shows one of the chats."""
    reasons, crashes = summary.get("error_reasons") or {}, summary.get("crashes") or {}
    yield from error_notes(reasons)
    yield from error_notes(crashes, what="exception")
    failed = _failed_chat(run) if reasons or crashes else None
    if failed is not None:
        task_id, trial = failed
        named = ["--trial", str(trial)] if trial else []
        yield f"see one of them: {shlex.join(['seal', 'view', str(run.path), task_id, *named])}"


def _failed_chat(run: RunFolder) -> tuple[str, int] | None:
    """Return task and trial of the first chat that failed, else of one that was not judged."""
    for trajectory in trajectories_so_far(run):
        if any(stop.error for stop in trajectory.stops):
            return trajectory.task_id, trajectory.trial
    for score in scores_so_far(run):
        if score.value is None and score.reason.startswith(INFRASTRUCTURE):
            return score.task_id, score.trial
    return None


def spent_words(state: Progress) -> Iterator[str]:
    """Yield errors, tokens, dollars and waits of a run in progress, as far as there are any."""
    if state.errors:
        yield counted(state.errors, "error")
    if state.tokens:
        yield counted(state.tokens, "token")
    if state.dollars is not None:
        yield f"${state.dollars:.2f}"
    if state.waits:
        yield state.waits


def spent_lines(folder: RunFolder, budget: Budget) -> Iterator[str]:
    """Yield what each role took, and what the run spent, where models used tokens."""
    for row in folder.summary()["usage"].get("roles", ()):
        yield printable(
            f"{row['role']} ({row['model']}): {counted(row['requests'], 'request')}, "
            f"{counted(row['tokens_in'], 'token')} in, {row['tokens_out']:,} out"
            f"{_ESTIMATED if row.get('estimated') else ''}"
        )
    spent = spent_on(folder)
    if spent.tokens:
        dollars = budget.dollars(spent.asked)
        cost = "of no known price" if dollars is None else f"{dollars:.4f} dollars"
        told = _ESTIMATED if any(part.estimated for part in spent.asked.values()) else ""
        yield f"spent until now, baselines with it: {counted(spent.tokens, 'token')}{told}, {cost}"
