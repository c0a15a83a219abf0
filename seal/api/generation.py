"""Benchmarks of your own, made by what installed benchmarks offer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seal.core.errors import UnknownNameError
from seal.core.signatures import checked
from seal.pools import REGISTRY
from seal.pools.benchmark import loaded
from seal.pools.known import Bench, known_benchmark


@checked
def generate(what: str, bench: Bench, out: str | Path | None = None, **options: Any) -> Any:
    """Make something of your own: dialogues of missions, harder queries, tools or milestones.

    `missions` makes dialogues of related missions over the tools of a benchmark. `queries` makes
    harder queries of its tasks: constraints, paraphrases, and requests that no tool serves. `tools`
    writes a tool for each one-sentence description, and checks it by rule. `milestones` proposes
    milestones of what was done. An installed benchmark may offer further kinds
    (`seal.Benchmark.generators`).

    Args:
        what: missions, queries, tools or milestones.
        bench: A benchmark, the name of one, or a pool folder. For tools: the file of descriptions.
            For milestones also a run folder.
        out: Folder to make. A folder that was begun under the same settings is continued. For
            milestones a file; None: nothing is written.
        **options: Those of the kind. All of ours take `model`, its `base_url` and `model_options`,
            `seed` and `progress`. A grammar writes where no model is named.

    Returns:
        For missions and queries an object whose `.to_json()` is what `import.json` says. Missions
        also name the dialogues at which the infrastructure failed. For tools the counts: tools,
        lists, what was dropped and why, and how rich the parameters are.

    Raises:
        UnknownNameError: There is no such kind, setting, form, pool or model; the text names the
            closest.
        UsageError: A setting cannot be, the pool has no seed, or `out` holds something else.
        DataError: Nothing could be made, or a file is malformed.
        InfrastructureError: A model's server or a store failed; what is done is kept.

    Example:
        >>> import seal
        >>> made = seal.generate("queries", "toolscan-sample", "harder", limit=2)
        >>> made.report.tasks
        8
        >>> run = seal.run("harder", model="oracle", limit=2, baselines=False)
    """
    offered: dict[str, Any] = {}
    for name in REGISTRY.names():
        known = known_benchmark(name)
        offered |= {} if known is None else known.generators
    if what not in offered:
        raise UnknownNameError("kind of generation", what, offered)
    return loaded(offered[what])(bench, out, **options)
