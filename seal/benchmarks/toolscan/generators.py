"""`seal.generate("queries" | "tools", ...)`: harder queries, and tools from descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from seal.benchmarks.toolscan.query_generation.candidates import Kind
from seal.core.signatures import checked
from seal.experiments.generation.scaffold import Progress, unheard
from seal.experiments.generation.writers import writing_model
from seal.pools.lookup import Bench, open_pool
from seal.runs.settings import ModelChoice

if TYPE_CHECKING:
    from seal.benchmarks.toolscan.query_generation.generate import GeneratedQueries


class QueryOptions(TypedDict, total=False):
    """Fields of `QuerySettings`."""

    kinds: Sequence[Kind]
    per_seed: int
    limit: int | None
    seed: int
    name: str
    allow_code: Sequence[str]


@checked
def generate_queries(
    bench: Bench,
    out: str | Path,
    *,
    model: ModelChoice | None = None,
    base_url: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    review: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[QueryOptions],
) -> GeneratedQueries:
    """Make harder queries of a pool's tasks: constraints, paraphrases, requests no tool serves.

    Args:
        bench: A benchmark, the name of one, or a pool folder, whose tasks are the seeds.
        out: Folder to make. A folder that was begun under the same settings is continued.
        model: Who writes; None: a grammar does.
        base_url: Address of the model's server; None: the provider's own.
        model_options: Of the model.
        review: CSV table that gets the queries; its edited words are taken.
        progress: Called with how many seeds and kinds are done, and how many there are.
        **options: Fields of `seal.benchmarks.toolscan.query_generation.candidates.QuerySettings`.

    Raises:
        UsageError: A setting cannot be, the pool has no seed, or `out` holds something else.
        DataError: No query was kept, or a file is malformed.
        ModelError: The model's server failed; what is done is kept.
    """
    from seal.benchmarks.toolscan.query_generation.candidates import QuerySettings
    from seal.benchmarks.toolscan.query_generation.generate import generate_queries as make
    from seal.benchmarks.toolscan.query_generation.writers import ModelWriter

    chosen = QuerySettings(**options)
    written = writing_model(model, base_url, model_options, "queries")
    return make(
        open_pool(bench),
        Path(out),
        chosen,
        None if written is None else ModelWriter(written, chosen.seed),
        review=None if review is None else Path(review),
        progress=progress or unheard,
    )


@checked
def generate_tools(
    descriptions: str | Path,
    out: str | Path,
    *,
    model: ModelChoice | None = None,
    base_url: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    form: str = "seal",
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a tool for each one-sentence description, checked by rule.

    Args:
        descriptions: File of them (`seal.benchmarks.toolscan.tool_generation.descriptions`).
        out: Folder to make. A folder that was begun under the same settings is continued.
        model: Who writes; None: a grammar does.
        base_url: Address of the model's server; None: the provider's own.
        model_options: Of the model.
        form: seal for a pool, or mmtb for tool lists that `seal.import_benchmark("mmtb", ...)`
            reads.
        seed: Another seed gives other tools.
        progress: Called with how many tools are done, and how many there are.

    Raises:
        UnknownNameError: No such form.
        UsageError: A setting cannot be, or `out` holds something else.
        DataError: The descriptions are malformed, or none of them became a tool.
        ModelError: The model's server failed; what is done is kept.
    """
    from seal.benchmarks.toolscan.tool_generation.generate import generate_tools as make
    from seal.benchmarks.toolscan.tool_generation.grammar import GrammarWriter
    from seal.benchmarks.toolscan.tool_generation.writers import ModelWriter

    written = writing_model(model, base_url, model_options, "tools")
    writer = GrammarWriter(seed) if written is None else ModelWriter(written, seed)
    return make(
        Path(descriptions), Path(out), writer, form=form, seed=seed, progress=progress or unheard
    )
