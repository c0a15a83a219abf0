"""The verbs: each one's line in `seal --help`, and the module that has its command.

Only the module of the verb that is called is imported. A command returns its exit code.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import typer


class Verb(NamedTuple):
    """What `seal --help` says of a verb, and where its command is."""

    module: str
    """Of `seal.cli`; it adds the command, or several, by `seal.cli.groups.verb`."""
    about: str
    """Its line."""


GROUPS: Mapping[str, Mapping[str, Verb]] = {
    "Play and score": {
        "run": Verb("play_verbs", "Play a benchmark's tasks: retrieve, chat, score, report."),
        "sweep": Verb(
            "score_verbs",
            "Play a benchmark over pools of several sizes, and with several numbers of offered "
            "tools.",
        ),
        "score": Verb("score_verbs", "Score a run's trajectories again, without a chat."),
        "retrieve": Verb(
            "score_verbs", "Rank tools for every task, and compare retrievers, without a chat."
        ),
        "cache": Verb("score_verbs", "Look at, fill and check the store of simulated answers."),
    },
    "Look at runs": {
        "runs": Verb(
            "run_verbs",
            "List the runs below a folder: benchmark, model, chats, first metric, when.",
        ),
        "view": Verb("run_verbs", "Show a run's tasks, or read one chat, finished or running."),
        "serve": Verb("run_verbs", "Show the runs below folders in a browser."),
        "report": Verb("run_verbs", "Write one HTML report of one or several runs."),
        "site": Verb("run_verbs", "Write a static site of the runs below folders, to publish."),
        "explain": Verb(
            "run_verbs",
            "Tell why the failed goals of a run failed: a waterfall over stages, with examples.",
        ),
        "compare": Verb(
            "run_verbs",
            "Compare runs of one benchmark: paired differences, tests, power, tasks won and lost.",
        ),
        "leaderboard": Verb(
            "run_verbs",
            "Rank runs of one benchmark: intervals of ranks, groups that no test tells apart.",
        ),
        "ablate": Verb(
            "score_verbs",
            "Play the same tasks under conditions that differ in one thing, and compare the runs.",
        ),
        "annotate": Verb(
            "run_verbs",
            "Let people judge what an assistant said or did: write a file for them, read theirs.",
        ),
        "paper": Verb(
            "run_verbs", "Print a paper's tables with your runs beside the published rows."
        ),
    },
    "Benchmarks": {
        "benchmarks": Verb(
            "benchmark_verbs", "List the benchmarks that ship and those that can be imported."
        ),
        "fetch": Verb(
            "benchmark_verbs", "Download a benchmark's upstream files, pinned and checked."
        ),
        "import": Verb(
            "benchmark_verbs", "Turn a benchmark's upstream files into tools and tasks."
        ),
        "new": Verb("benchmark_verbs", "Make a benchmark of your own tools and questions."),
        "pools": Verb(
            "benchmark_verbs", "Search a pool by words, show its tasks and tools, and count it."
        ),
        "lint": Verb("benchmark_verbs", "Find what is wrong or doubtful in a pool."),
        "export": Verb(
            "benchmark_verbs",
            "Write a pool or a run for OpenAI, TREC, Hugging Face, inspect_ai and others.",
        ),
        "trust": Verb(
            "benchmark_verbs",
            "Tell which code, servers and files a pool or run from elsewhere asks for.",
        ),
    },
    "Make and mend": {
        "generate": Verb("generate_verb", "Make scenarios of templates, or tasks by a model."),
        "augment": Verb(
            "benchmark_verbs",
            "Write a copy of a benchmark with distraction tools, or with scrambled ones.",
        ),
    },
    "This installation": {
        "doctor": Verb(
            "installation_verbs",
            "Tell what is installed and set here: extras, keys, servers, caches, room on the disk.",
        ),
        "models": Verb(
            "models_verb", "List the models that can play a role, or probe what one can do."
        ),
    },
}
"""Title in `seal --help` to verbs; each verb stands once."""
VERBS = dict(sorted(each for group in GROUPS.values() for each in group.items()))
"""By name, sorted."""
_FORMER = {
    "cache export": "a store is one file, answers.sqlite, to be copied; machines share one by "
    "SEAL_CACHE_URL",
    "cache fill": "`seal run POOL --model gold_calls --no-baselines` has the gold calls answered",
    "cache fidelity": "`python perf/fidelity.py RUN...` holds a simulator against recorded "
    "answers, in a checkout of SEAL",
    "cache merge": "machines share one store by SEAL_CACHE_URL; see docs/simulate-and-replay.md",
    "completion": '`eval "$(_SEAL_COMPLETE=source_bash seal)"` in ~/.bashrc completes; so '
    "`source_zsh` and `source_fish`",
    "errata": "mend tasks.jsonl in a copy of the pool; `seal lint` finds doubtful gold",
    "mcp": "`seal run --agent bridge:COMMAND` starts an MCP client for each chat, and serves it at "
    "$OPENAI_BASE_URL/mcp; see docs/evaluate-my-agent.md",
    "merge": "`seal run --processes ray` plays one run on many machines; see docs/many-machines.md",
    "train-retriever": "seal.split and `seal export POOL --to triplets` give sentence-transformers "
    "what it trains on; see docs/train-a-retriever.md",
    "verify": "`python perf/verify/verify.py` holds figures against peers, in a checkout of SEAL",
}
"""Former verb, or verb and command, to what replaces it."""


def load(name: str, command: str = "") -> typer.Typer:
    """Return the verb's app; `command` is the word after the verb.

    Raises:
        UnknownNameError: There is no such verb.
        UsageError: It is gone; the text says what replaces it.
    """
    from seal.cli.groups import app_of
    from seal.core import UnknownNameError, UsageError

    for former in {name, f"{name} {command}"} & _FORMER.keys():
        raise UsageError(f"seal {former} is gone: {_FORMER[former]}")
    if name not in VERBS:
        raise UnknownNameError("verb", name, sorted(VERBS))
    module = import_module(f"{__package__}.{VERBS[name].module}")
    return getattr(module, "app", None) or app_of(name)
