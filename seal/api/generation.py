"""Benchmarks of your own: missions, tools and queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from seal.benchmarks.mmtb.dialogues import MissionType
from seal.benchmarks.mmtb.generation.scenes import Relation, Speakers
from seal.benchmarks.toolscan.query_generation.settings import Kind
from seal.core.errors import UsageError
from seal.core.protocols import CacheMode
from seal.core.signatures import checked
from seal.pools.known import Bench
from seal.runs.settings import ModelChoice, SimulatorChoice

if TYPE_CHECKING:
    from seal.benchmarks.mmtb.generation.generate import Generated
    from seal.benchmarks.toolscan.query_generation.generate import GeneratedQueries
    from seal.models import ModelSettings


class MissionOptions(TypedDict, total=False):
    """Fields of `MissionSettings`."""

    missions: int
    types: Sequence[MissionType]
    relations: Sequence[Relation]
    cover: int
    model: ModelChoice | Speakers
    role_models: Mapping[str, ModelChoice]
    model_options: Mapping[str, Any]
    base_url: str | None
    simulator: SimulatorChoice
    cache: CacheMode
    language: str
    limit: int | None
    workers: int
    seed: int
    name: str


class QueryOptions(TypedDict, total=False):
    """Fields of `QuerySettings`."""

    kinds: Sequence[Kind]
    per_seed: int
    limit: int | None
    seed: int
    name: str
    allow_code: Sequence[str]


@checked
def generate_missions(
    bench: Bench,
    out: str | Path,
    *,
    review: str | Path | None = None,
    cache_dir: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[MissionOptions],
) -> Generated:
    """Make dialogues of related missions over a pool's tools, and of them a pool to run.

    Args:
        bench: A benchmark, the name of one, or a pool folder.
        out: Folder to make; one begun under the same settings is gone on with.
        review: File that gets the candidates of every mission, and whose edited choices are taken.
        cache_dir: Where answers of models and simulators are kept; None: as `seal.run` has it.
        progress: Told how many dialogues are done, and how many there are.
        **options: Fields of `seal.benchmarks.mmtb.generation.settings.MissionSettings`; the model
            may be a name, a model, or an object of
            `seal.benchmarks.mmtb.generation.scenes.Speakers`.

    Returns:
        What `import.json` says, and the dialogues that the infrastructure failed at.

    Raises:
        UnknownNameError: No such setting, pool or model; names the closest.
        UsageError: A setting that cannot be, or `out` holds something else.
        DataError: Not one dialogue could be made, or a file is malformed.
        InfrastructureError: Not one could be made yet: a model's server or a store failed.
    """
    from seal.benchmarks.mmtb.generation.generate import generate_missions as make
    from seal.benchmarks.mmtb.generation.settings import MissionSettings
    from seal.core.places import cache_folder
    from seal.core.store import FILE_NAME, Store
    from seal.pools.lookup import open_pool

    with Store(cache_folder(cache_dir) / FILE_NAME) as store:
        return make(
            open_pool(bench),
            Path(out),
            MissionSettings(**options),
            store,
            review=None if review is None else Path(review),
            progress=progress or (lambda done, total: None),
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
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Write a tool for each one-sentence description, checked by rule.

    Args:
        descriptions: File of them (`seal.benchmarks.toolscan.tool_generation.descriptions`).
        out: Folder to make; one begun under the same settings is gone on with.
        model: Name of a model, or a model, that writes; None: a grammar does.
        base_url: Address of the model's server; None: the provider's own.
        model_options: Of the model, as `seal run -M` takes them.
        form: seal: a pool; mmtb: tool lists, as `seal.import_benchmark("mmtb", ...)` reads them.
        seed: Another seed gives other tools.
        progress: Told how many are done, and how many there are.

    Returns:
        Counts: tools, lists, what was dropped and why, how rich the parameters are.

    Raises:
        UnknownNameError: No such form.
        UsageError: A setting that cannot be, or `out` holds something else.
        DataError: The descriptions are malformed, or none of them became a tool.
        ModelError: The model's server failed; what is done is kept.
    """
    from seal.benchmarks.toolscan.tool_generation.generate import generate_tools as make
    from seal.benchmarks.toolscan.tool_generation.grammar import GrammarWriter
    from seal.benchmarks.toolscan.tool_generation.models import ModelWriter
    from seal.benchmarks.toolscan.tool_generation.writing import Writer
    from seal.experiments.generation.writing_models import writing_model

    told = _model_settings(model, base_url, model_options)
    writer: Writer = GrammarWriter(seed)
    if model is not None:
        writer = ModelWriter(writing_model(model, told, "tools"), seed)
    return make(Path(descriptions), Path(out), writer, form=form, seed=seed, progress=progress)


@checked
def generate_queries(
    bench: Bench,
    out: str | Path,
    *,
    model: ModelChoice | None = None,
    base_url: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    review: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[QueryOptions],
) -> GeneratedQueries:
    """Make harder queries of a pool's tasks: constraints, paraphrases, requests no tool serves.

    Args:
        bench: A benchmark, the name of one, or a pool folder.
        out: Folder to make; one begun under the same settings is gone on with.
        model: Name of a model, or a model, that writes; None: a grammar does.
        base_url: Address of the model's server; None: the provider's own.
        model_options: Of the model, as `seal run -M` takes them.
        review: Table (CSV) that gets the queries, and whose edited words are taken.
        progress: Told how many seeds and kinds are done, and how many there are.
        **options: Fields of `seal.benchmarks.toolscan.query_generation.settings.QuerySettings`:
            kinds, per_seed, limit, seed, name.

    Returns:
        What `import.json` says, and the counts.

    Raises:
        UnknownNameError: No such setting, kind, pool or model; names the closest.
        UsageError: A setting that cannot be, the pool has no seed, or `out` holds something else.
        DataError: No query was kept, or a file is malformed.
        ModelError: The model's server failed; what is done is kept.
    """
    from seal.benchmarks.toolscan.query_generation.generate import generate_queries as make
    from seal.benchmarks.toolscan.query_generation.models import ModelWriter
    from seal.benchmarks.toolscan.query_generation.settings import QuerySettings
    from seal.experiments.generation.writing_models import writing_model
    from seal.pools.lookup import open_pool

    chosen = QuerySettings(**options)
    told = _model_settings(model, base_url, model_options)
    writer = None
    if model is not None:
        writer = ModelWriter(writing_model(model, told, "queries"), chosen.seed)
    return make(
        open_pool(bench),
        Path(out),
        chosen,
        writer,
        review=None if review is None else Path(review),
        progress=progress or (lambda done, total: None),
    )


def _model_settings(
    model: ModelChoice | None, base_url: str | None, options: Mapping[str, Any] | None
) -> ModelSettings:
    """Return how the model that writes is asked.

    Raises:
        UsageError: An address or options, but no model.
    """
    from seal.models import ModelSettings

    if model is None and (options or base_url):
        raise UsageError("options and an address are a model's: name the model too")
    return ModelSettings.from_options(options or {}, base_url=base_url)
