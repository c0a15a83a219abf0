"""`seal.generate("missions", ...)`: dialogues of related missions over a pool's tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from seal.benchmarks.mmtb.dialogues import MissionType
from seal.benchmarks.mmtb.generation.scenes import Relation, Speakers
from seal.core import CacheMode
from seal.core.signatures import checked
from seal.core.store import open_store
from seal.pools.lookup import Bench, open_pool
from seal.runs.settings import ModelChoice, SimulatorChoice

if TYPE_CHECKING:
    from seal.benchmarks.mmtb.generation.generate import Generated


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


@checked
def generate_missions(
    bench: Bench,
    out: str | Path,
    *,
    review: str | Path | None = None,
    cache_dir: str | Path | None = None,
    cache_url: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[MissionOptions],
) -> Generated:
    """Make dialogues of related missions over a pool's tools, and of them a pool to run.

    Args:
        bench: A benchmark, the name of one, or a pool folder, whose tools are called.
        out: Folder to make. A folder that was begun under the same settings is continued.
        review: File that gets the candidates of every mission; its edited choices are taken.
        cache_dir: Where answers of models and simulators are kept; None: as `seal.run` has it.
        cache_url: Database of these answers; None: as `seal.run` has it.
        progress: Called with how many dialogues are done, and how many there are.
        **options: Fields of `seal.benchmarks.mmtb.generation.settings.MissionSettings`. The model
            may also be an object of `seal.benchmarks.mmtb.generation.scenes.Speakers`.

    Raises:
        UsageError: A setting cannot be, or `out` holds something else.
        DataError: Not one dialogue could be made, or a file is malformed.
        InfrastructureError: A model's server or a store failed; what is done is kept.
    """
    from seal.benchmarks.mmtb.generation.generate import generate_missions as make
    from seal.benchmarks.mmtb.generation.settings import MissionSettings

    with open_store(cache_dir, cache_url) as store:
        return make(
            open_pool(bench),
            Path(out),
            MissionSettings(**options),
            store,
            review=None if review is None else Path(review),
            progress=progress or (lambda done, total: None),
        )
