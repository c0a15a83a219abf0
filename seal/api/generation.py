"""Benchmarks of your own: missions, tools and queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from seal.benchmarks.mmtb.dialogues import MissionType
from seal.core.errors import UnknownNameError, UsageError
from seal.core.protocols import CacheMode
from seal.core.signatures import checked
from seal.generation.missions.scenes import Relation, Speakers
from seal.generation.queries.settings import Kind
from seal.pipeline.settings import ModelChoice, SimulatorChoice
from seal.pools.known import Bench

if TYPE_CHECKING:
    from seal.generation.missions.generate import Generated
    from seal.generation.queries.generate import GeneratedQueries
    from seal.models import ModelSettings


What = Literal["missions", "queries", "tools"]
"""What can be generated."""


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


@overload
def generate(
    what: Literal["missions"],
    bench: Bench,
    out: str | Path,
    *,
    review: str | Path | None = ...,
    cache_dir: str | Path | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    **options: Unpack[MissionOptions],
) -> Generated: ...
@overload
def generate(
    what: Literal["queries"],
    bench: Bench,
    out: str | Path,
    *,
    model: ModelChoice | None = ...,
    base_url: str | None = ...,
    model_options: Mapping[str, Any] | None = ...,
    review: str | Path | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    **options: Unpack[QueryOptions],
) -> GeneratedQueries: ...
@overload
def generate(
    what: Literal["tools"],
    bench: str | Path,
    out: str | Path,
    *,
    model: ModelChoice | None = ...,
    base_url: str | None = ...,
    model_options: Mapping[str, Any] | None = ...,
    form: str = ...,
    seed: int = ...,
    progress: Callable[[int, int], None] | None = ...,
) -> dict[str, Any]: ...
@checked
def generate(what: What, bench: Bench, out: str | Path, **options: Any) -> Any:
    """Make a pool of your own: dialogues of missions, harder queries, or tools.

    `missions` makes dialogues of related missions over the tools of a benchmark. `queries` makes
    harder queries of its tasks: constraints, paraphrases, and requests that no tool serves. `tools`
    writes a tool for each one-sentence description, and checks it by rule.

    Args:
        what: missions, queries or tools.
        bench: A benchmark, the name of one, or a pool folder. For tools: the file of descriptions
            (`seal.generation.tools.descriptions`).
        out: Folder to make. A folder that was begun under the same settings is continued.
        **options: Those of the kind.

            - All kinds take `model`, its `base_url` and `model_options`, and `seed`. A grammar
              writes where no model is named. `progress` is called with how many items are done, and
              how many there are.
            - missions: `review`, `cache_dir`, and the fields of
              `seal.generation.missions.settings.MissionSettings`. The model may also be an object
              of `seal.generation.missions.scenes.Speakers`. The file `review` gets the candidates
              of every mission; its edited choices are taken.
            - queries: `review`, and the fields of `seal.generation.queries.settings.QuerySettings`.
              The CSV table `review` gets the queries; its edited words are taken.
            - tools: `form`. It is seal for a pool, or mmtb for tool lists that
              `seal.import_benchmark("mmtb", ...)` reads.

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
    parts: Mapping[str, Callable[..., Any]] = {
        "missions": _missions,
        "queries": _queries,
        "tools": _tools,
    }
    if what not in parts:
        raise UnknownNameError("kind of generation", what, parts)
    return parts[what](bench, out, **options)


@checked
def _missions(
    bench: Bench,
    out: str | Path,
    *,
    review: str | Path | None = None,
    cache_dir: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[MissionOptions],
) -> Generated:
    """Make dialogues of related missions over a pool's tools, and of them a pool to run."""
    from seal.core.store import FILE_NAME, Store
    from seal.generation.missions.generate import generate_missions as make
    from seal.generation.missions.settings import MissionSettings
    from seal.pipeline.places import cache_folder
    from seal.pipeline.pools import open_pool

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
def _queries(
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
    """Make harder queries of a pool's tasks."""
    from seal.generation.queries.generate import generate_queries as make
    from seal.generation.queries.models import ModelWriter
    from seal.generation.queries.settings import QuerySettings
    from seal.generation.writing_models import writing_model
    from seal.pipeline.pools import open_pool

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


@checked
def _tools(
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
    """Write a tool for each one-sentence description, checked by rule."""
    from seal.generation.tools.generate import generate_tools as make
    from seal.generation.tools.grammar import GrammarWriter
    from seal.generation.tools.models import ModelWriter
    from seal.generation.tools.writing import Writer
    from seal.generation.writing_models import writing_model

    told = _model_settings(model, base_url, model_options)
    writer: Writer = GrammarWriter(seed)
    if model is not None:
        writer = ModelWriter(writing_model(model, told, "tools"), seed)
    return make(Path(descriptions), Path(out), writer, form=form, seed=seed, progress=progress)


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
