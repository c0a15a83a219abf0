"""Small open models, played by the whole system; their answers are stored and played again.

    python perf/small_models.py --play [--weights FOLDER] [--only NAME] [--runs FOLDER]
    python perf/small_models.py [--runs FOLDER] [--out results/small_models.md]

SmolLM2 135M and Qwen2.5-Coder 0.5B and 1.5B play `PLAN`, beside an agent that does nothing. One of
them also plays in a team, with an orchestrator, with a planner before it, and with a checker.
`--play` asks them for what is not stored yet. It may be stopped at any time: each answer is stored
in `results/small_models` when it comes, and a run that `--runs` holds goes on where it was.
`--only` takes the runs whose names begin so. `seal models fetch smollm2` brings the one model;
`FOLDER` holds the files of the others (`_QWEN`). On one core of 2.1 GHz a chat of SmolLM2 takes 5
to 10 seconds in `json`, and one of Qwen 0.5B on the sample about 50.

Without `--play` every answer comes from the store, and no model is there. SEAL_DATA has `bfcl` and
`metatool`; the other benchmarks ship. A page is only made of a plan that was played whole: else the
runs that lack answers are named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import seal
from seal.agents.roles import Checker
from seal.agents.teams import MANAGER
from seal.core.call_formats import Format
from seal.evaluation.significance import ALPHA, holm
from seal.report.grids import Grid, number
from seal.report.table_forms import markdown

ANSWERS = Path(__file__).resolve().parents[1] / "results" / "small_models"
_QWEN = {
    "qwen-0.5b": (
        "qwen25-coder-0.5b.gguf",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "qwen-1.5b": (
        "qwen25-coder-1.5b.gguf",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}
"""File of each model in the folder of weights, and its SHA-256."""


@dataclass(frozen=True, slots=True)
class Play:
    """One run of the study."""

    model: str
    bench: str
    format: Format
    tasks: int = 20
    top_k: int = 5
    team: str = "direct"
    planner: str = ""
    checker: bool = False
    """Whether the model also checks its answers, each of which may come back once."""

    @property
    def name(self) -> str:
        """Of the run's folder, and of its scores."""
        more = [f"top{self.top_k}"] * (self.top_k != 5) + [self.team] * (self.team != "direct")
        more += [self.planner] * bool(self.planner) + ["checker"] * self.checker
        return "-".join((self.model, self.bench, self.format, *more))


BENCHES = ("sample", "bfcl", "metatool", "toolsandbox-sample")
FORMATS: tuple[Format, ...] = ("native", "json")
METRICS = {
    "sample": "calls_right",
    "bfcl": "calls_right",
    "metatool": "chosen_right",
    "toolsandbox-sample": "similarity",
}
"""What the tables show of each benchmark."""
PLAN = (
    *(Play("smollm2", bench, form) for bench in BENCHES for form in FORMATS),
    *(Play("qwen-0.5b", "sample", form, tasks=40) for form in FORMATS),
    Play("qwen-0.5b", "sample", "json", tasks=40, top_k=1),
    *(Play("qwen-0.5b", "bfcl", form, tasks=40) for form in FORMATS),
    Play("qwen-0.5b", "bfcl", "native", tasks=30, team="full"),
    Play("qwen-0.5b", "bfcl", "native", tasks=30, team="full", planner="decompose"),
    Play("qwen-0.5b", "bfcl", "native", tasks=30, team="full", checker=True),
    *(Play("qwen-0.5b", "metatool", form, tasks=40) for form in FORMATS),
    *(Play("qwen-0.5b", "toolsandbox-sample", form, tasks=40) for form in FORMATS),
    *(Play("qwen-1.5b", bench, form) for bench in ("bfcl", "metatool") for form in FORMATS),
)
_NOTHING = "nothing"
"""The agent that every run is held against."""


def main(argv: Sequence[str] | None = None) -> int:
    """Play the runs, or play them again; print or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--play", action="store_true", help="ask the models for what is missing")
    parser.add_argument("--only", default="", help="begin of the names of the runs that are played")
    parser.add_argument("--weights", type=Path, default=Path(), help="folder of the Qwen file")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="folder of stored answers")
    parser.add_argument("--runs", type=Path, help="folder of the runs; a new one otherwise")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    parser.add_argument("--short", action="store_true", help="play SmolLM2's runs alone, for CI")
    asked = parser.parse_args(argv)
    asked.only = asked.only or ("smollm2" if asked.short else "")
    idle = [Play(_NOTHING, bench, "native", tasks=40) for bench in BENCHES]
    with TemporaryDirectory() as made:
        folder, lacking = asked.runs or Path(made), list[str]()
        for play in (*idle, *PLAN):
            if not play.name.startswith(asked.only):
                continue
            errors = played(play, folder / play.name, asked).summary["errors"]
            lacking += [f"{play.name} ({errors} of {play.tasks})"] * bool(errors)
        if lacking:
            print(f"answers are not stored; add --play: {', '.join(lacking)}", file=sys.stderr)
            return 1
        if asked.only:
            return 0
        text = page(folder)
    if asked.out is None:
        print(text, end="")
    else:
        asked.out.write_text(text, "utf-8")
    return 0


def model_of(play: Play, weights: Path) -> seal.Model:
    """Return the model, with all that its stored answers depend on."""
    options: dict[str, Any] = {"n_threads": 1, "max_tokens": 64}
    if play.model == "smollm2":
        return seal.Model("local/smollm2", **options)
    name, digest = _QWEN[play.model]
    return seal.Model(f"local/{weights / name}", sha256=digest, **options)


def played(play: Play, out: Path, asked: argparse.Namespace) -> seal.Run:
    """Play a run, or go on with it."""
    who: dict[str, Any] = {"agent": does_nothing}
    role_models: dict[str, Any] = {"user_simulator": "lexical"}
    if play.model != _NOTHING:
        model = model_of(play, asked.weights)
        who = {"model": model, "team": play.team, "format": play.format}
        who["roles"] = {"planner": play.planner} if play.planner else {}
        if play.checker:
            who["roles"]["checker"] = Checker(returns=1)
            role_models = {"checker": model}  # it speaks where no user answers
    retrieval: dict[str, Any] = {"retriever": "tfidf", "top_k": play.top_k}
    if play.bench == "bfcl":  # at most four tools, which the question brings
        retrieval = {"select": {"group": "multiple"}}
    return seal.run(
        play.bench,
        role_models=role_models,
        limit=play.tasks,
        max_turns=4,
        metrics=[chosen_right] if play.bench == "metatool" else [],
        workers=1,
        baselines=False,
        cache="record" if asked.play else "replay",
        cache_dir=asked.answers,
        out=out,
        resume=out.exists(),
        **who,
        **retrieval,
    )


def does_nothing(request: str, tools: Sequence[Any]) -> str:
    """Answer without a call."""
    return "I cannot do that."


def chosen_right(
    task: seal.Task, trajectory: seal.Trajectory, tools: Mapping[str, seal.Tool]
) -> bool:
    """Tell whether the tools that were called are just those that MetaTool names."""
    wanted = {tool for goal in task.goals for tool in goal.relevant}
    names = {tool.name for tool in tools.values() if tool.id in wanted}
    return {step.call.name for step, _ in trajectory.calls() if step.call is not None} == names


# -- The page.


def page(folder: Path) -> str:
    """Return the page of runs that are whole."""
    rows, tests = [], list[tuple[str, Any]]()
    for play in PLAN:
        run, metric = seal.Run.load(folder / play.name), METRICS[play.bench]
        idle = folder / Play(_NOTHING, play.bench, "native").name
        score, called = run[metric], run["calls"]
        roles = run.summary["usage"]["roles"]
        used = next(role for role in roles if role["role"] == MANAGER)
        rows.append(
            (
                play.name,
                str(play.tasks),
                metric,
                number(score.mean),
                f"[{number(score.low)}, {number(score.high)}]",
                number(called.mean),
                f"{sum(role['requests'] for role in roles):,}",
                f"{used['tokens_in'] / used['requests']:.0f}",
                number(_cut(run)),
            )
        )
        tests.append((f"{play.name} less doing nothing", _apart(run.folder.path, idle, metric)))
    for play in PLAN:
        usual = replace(play, top_k=5, team="direct", planner="", checker=False)
        names = {one.name: one for one in PLAN}
        others = (usual, replace(play, format="native"), replace(play, planner="", checker=False))
        for other in {one.name: one for one in others if one.name != play.name}.values():
            if other.name not in names:
                continue
            runs = (folder / play.name, folder / other.name)
            tests.append((f"{play.name} less {other.name}", _apart(*runs, METRICS[play.bench])))
    parts = [
        Grid("What small models do", ("run", "tasks", "metric", *_COLUMNS), rows),
        *_told(tests),
    ]
    intro = (
        "# Small open models, played here",
        "Written by `perf/small_models.py --out FILE` of the answers in `results/small_models`. "
        "`native` calls go through llama.cpp; the template of SmolLM2 shows it no tools. Models "
        "are quantised, and an answer ends after 64 tokens: `cut` is the share that did not end by "
        "itself. tfidf offers five tools, or one (`top1`); `bfcl` is its category `multiple`, with "
        "the two to four tools of the question. A chat has at most four turns; a user that matches "
        "words answers, but where a `checker` speaks. Requests are of all "
        "roles, tokens are those that a request of the execution manager sends.",
    )
    return "\n\n".join((*intro, *map(markdown, parts))) + "\n"


_COLUMNS = ("mean", "95 % interval", "calls a task", "requests", "tokens a request", "cut")


def _cut(run: seal.Run) -> float:
    """Return the share of answers that the limit of tokens cut."""
    steps = (step for chat in run.folder.trajectories() for step in chat.steps)
    ended = [step.finish_reason for step in steps if step.usage is not None]
    return ended.count("length") / len(ended)


def _apart(run: Path, other: Path, metric: str) -> Any:
    # With a checker no user answers: that is meant, and would else be refused.
    return seal.compare(other, run, metrics=[metric], force=True)[metric]


def _told(tests: Sequence[tuple[str, Any]]) -> list[Grid | str]:
    """Return the paired tests, and in a word whether any model is above doing nothing."""
    corrected = holm([found.p for _, found in tests])
    rows = [
        (
            name,
            f"{found.difference:+.3f}",
            f"[{found.low:+.3f}, {found.high:+.3f}]",
            "<0.001" if p < 0.0005 else number(p),
        )
        for (name, found), p in zip(tests, corrected, strict=True)
    ]
    idle = [(name, f, p) for (name, f), p in zip(tests, corrected, strict=True) if "doing" in name]
    better = [name for name, found, p in idle if p <= ALPHA and found.difference > 0]
    word = f"better than doing nothing: {', '.join(better)}" if better else "all are at the floor"
    columns = ("difference of", "mean", "95 % interval", "p (Holm)")
    return [Grid("Paired differences over tasks", columns, rows), word]


if __name__ == "__main__":
    raise SystemExit(main())
