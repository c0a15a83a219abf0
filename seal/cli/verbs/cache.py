"""Look at, fill, carry and check the store of simulated answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.cli import options as shared
from seal.cli.groups import argument, flag, like, option, repeated, settings_of, verb
from seal.cli.output import Output, output
from seal.cli.words import new_file, pairs

if TYPE_CHECKING:
    from seal.core.store import Store
    from seal.runs.settings import RunSettings


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Options: where answers are kept, and what is printed."""

    cache_dir: Path | None = shared.CACHE_DIR
    json: bool = shared.JSON

    @contextmanager
    def opened(self) -> "Iterator[tuple[Output, Store]]":
        """Give the output of a verb, and the store while it is open."""
        from seal.core.store import open_store

        with output(self.json) as result, open_store(self.cache_dir) as store:
            yield result, store


@dataclass(frozen=True, kw_only=True)
class Simulated(Kept):
    """Options: what simulates, and where answers are kept."""

    simulator: str = shared.SIMULATOR
    role_model: dict[str, str] = repeated(
        "Model of the simulator; for `fidelity` also of the judge.",
        metavar="ROLE=MODEL",
        read=pairs,
        setting="role_models",
    )
    model_option: dict[str, Any] = shared.MODEL_OPTIONS
    base_url: str | None = shared.BASE_URL
    seed: int = like(shared.SEED, 0, help="Seed of the run that will use the answers.")


@verb("cache", name="stats")
def cache_stats(answers: Kept) -> int:
    """Print how many answers are stored, by kind, and their size."""
    with answers.opened() as (result, store):
        result.fields({"place": store.location, **asdict(store.stats())})
    return 0


@verb("cache", name="fill")
def cache_fill(
    *,
    pool: str = argument("Pool whose tools are simulated.", metavar="NAME|DIR"),
    calls: str = option(
        "gold",
        "Which calls to simulate: the pool's gold calls, or those of a run.",
        metavar="gold|RUN",
    ),
    processes: int | str = like(
        shared.PROCESSES,
        1,
        help="Where calls are answered: ray on each CPU of a Ray cluster, ray:N by N processes "
        "there; else in threads here.",
    ),
    simulated: Simulated,
) -> int:
    """Simulate a pool's gold calls, or a run's calls, in advance.

    The exit code is 1 if some calls fail.
    """
    from dataclasses import replace

    from seal.runs.cache_fill import fill_cache

    settings, json = _settings(simulated)
    with output(json) as result:
        report = asdict(fill_cache(replace(settings, pool=pool, processes=processes), calls))
        result.fields(report)
    return int(bool(report["failed"]))


@verb("cache", name="fidelity")
def cache_fidelity(
    *,
    records: list[str] = argument("Runs, or pools with recorded chats.", metavar="RUN|POOL..."),
    first: int | None = option(None, "Take the first N chats of each run or pool."),
    simulated: Simulated,
) -> int:
    """Compare a simulator with recorded answers.

    Also told is what the simulator changes in the scores of the runs. Rules judge the runs, or a
    model with `--role-model judge=MODEL`.
    """
    from dataclasses import replace

    from seal.experiments.fidelity import fidelity as found
    from seal.report.fidelity_results import fidelity_tables

    settings, json = _settings(simulated)
    with output(json) as result:
        content = found(records, replace(settings, first=first))
        result.result(content)
        result.show(*fidelity_tables(content))
    return 0


@verb("cache", name="export")
def cache_export(
    *,
    out: Path = argument("New JSON Lines file to write.", metavar="FILE", read=new_file),
    answers: Kept,
) -> int:
    """Write all simulated answers as JSON Lines, sorted by key."""
    from seal.simulator_cache.exchange import export_entries

    with answers.opened() as (result, store):
        result.fields(asdict(export_entries(store, out)))
    return 0


@verb("cache", name="import")
def cache_import(
    *,
    source: Path = argument("File or folder to read.", metavar="SOURCE"),
    format: str = option(
        "seal",
        "What wrote it: seal (`seal cache export`), or an upstream project: stabletoolbench, "
        "toolbench.",
    ),
    pool: str | None = option(
        None, "Pool whose tools an upstream format is about.", metavar="NAME|DIR"
    ),
    answers: Kept,
) -> int:
    """Read answers into the store; stored answers stay as they are."""
    from seal.pools.lookup import open_pool
    from seal.runs.cache_fill import import_answers

    tools = None if pool is None else {tool.id: tool for tool in open_pool(pool).tools()}
    with answers.opened() as (result, store):
        report = import_answers(store, source, format, tools)
        report.require_some(source)
        result.fields(report.to_plain())
    return 0


@verb("cache", name="merge")
def cache_merge(
    *,
    others: list[str] = argument("Other stores: files, folders, URLs.", metavar="STORE..."),
    answers: Kept,
) -> int:
    """Copy the answers of other stores; stored answers stay as they are."""
    from seal.simulator_cache.exchange import merge as merge_stores

    with answers.opened() as (result, store):
        result.fields(merge_stores(store, others).to_plain())
    return 0


@verb("cache", name="verify")
def cache_verify(
    *,
    pool: str = argument("Pool whose tools the answers must fit.", metavar="NAME|DIR"),
    repair: bool = flag("Remove damaged entries."),
    answers: Kept,
) -> int:
    """Find damaged entries, and answers of a wrong shape.

    The exit code is 1 if there are any.
    """
    from seal.pools.lookup import open_pool
    from seal.simulator_cache.exchange import verify as check

    tools = {tool.id: tool for tool in open_pool(pool).tools()}
    with answers.opened() as (result, store):
        report = check(store, tools, repair)
        result.fields(asdict(report), sound=report.sound)
    return 0 if report.sound else 1


def _settings(simulated: Simulated) -> tuple["RunSettings", bool]:
    """Return what simulates, and whether JSON is printed."""
    from seal.runs.settings import RunSettings

    told = settings_of(simulated)
    json = told.pop("json")
    # The one model here, so that --base-url and -M hold for it.
    model = told["role_models"].pop("simulator", "lexical")
    return RunSettings(model=model, **told), json
