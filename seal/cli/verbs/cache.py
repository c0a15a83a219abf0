"""Look at, fill, carry and check the store of simulated answers."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seal.cli.options import (
    BaseUrl,
    CacheDir,
    Json,
    ModelOptions,
    Simulator,
    new_app,
    pairs,
    typed_pairs,
)
from seal.cli.output import field_lines, output

if TYPE_CHECKING:
    from seal.core.store import Store

app = new_app("Look at, fill, carry and check the store of simulated answers.")


@app.command()
def stats(cache_dir: CacheDir = None, json: Json = False) -> int:
    """Print how many answers are stored, by kind, and their size."""
    with output(json) as result, _store(cache_dir) as store:
        plain = {"path": str(store.path), **asdict(store.stats())}
        result.result(plain)
        result.show(*field_lines(plain))
    return 0


@app.command()
def fill(
    pool: Annotated[str, typer.Argument(metavar="NAME|DIR", help="Tools to simulate.")],
    calls: Annotated[str, typer.Option(metavar="gold|RUN", help="Which calls.")] = "gold",
    simulator: Simulator = "template",
    role_model: Annotated[
        list[str] | None, typer.Option(metavar="simulator=MODEL", help="Model of the simulator.")
    ] = None,
    model_option: ModelOptions = None,
    base_url: BaseUrl = None,
    seed: Annotated[int, typer.Option(help="Of the run that is to come.")] = 0,
    cache_dir: CacheDir = None,
    json: Json = False,
) -> int:
    """Simulate a pool's gold calls, or those of a run, ahead; exits with 1 where some fail."""
    from seal.runs.cache_fill import fill_cache
    from seal.runs.settings import RunSettings

    models = pairs("--role-model", role_model)
    settings = RunSettings(
        pool=pool,
        simulator=simulator,
        # The one model here, so that --base-url and -M hold for it.
        model=models.pop("simulator", "lexical"),
        role_models=models,
        model_options=typed_pairs("--model-option", model_option),
        base_url=base_url,
        seed=seed,
        cache_dir=cache_dir,
    )
    with output(json) as result:
        report = asdict(fill_cache(settings, calls))
        result.result(report)
        result.show(*field_lines(report))
    return int(bool(report["failed"]))


@app.command("export")
def export_(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines file to write.")],
    cache_dir: CacheDir = None,
    json: Json = False,
) -> int:
    """Write all simulated answers as JSON Lines, sorted by key."""
    from seal.simulator_cache.exchange import export_entries

    with output(json) as result, _store(cache_dir) as store:
        plain = asdict(export_entries(store, out))
        result.result(plain)
        result.show(*field_lines(plain))
    return 0


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="File or folder to read.")],
    format: Annotated[
        Literal["seal", "stabletoolbench", "toolbench"],
        typer.Option(help="What wrote it: `seal cache export`, or an upstream project."),
    ] = "seal",
    pool: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="Tools that an upstream format speaks of."),
    ] = None,
    cache_dir: CacheDir = None,
    json: Json = False,
) -> int:
    """Read answers into the store; what is stored already stays as it is."""
    from seal.pools.lookup import open_pool
    from seal.simulator_cache.exchange import import_entries

    tools = None if pool is None else {tool.id: tool for tool in open_pool(pool).tools()}
    with output(json) as result, _store(cache_dir) as store:
        report = import_entries(store, source, format, tools)
        report.require_some(source)
        plain = report.to_plain()
        result.result(plain)
        result.show(*field_lines(plain))
    return 0


@app.command()
def merge(
    others: Annotated[
        list[Path], typer.Argument(metavar="STORE...", help="Other stores, or their folders.")
    ],
    cache_dir: CacheDir = None,
    json: Json = False,
) -> int:
    """Copy all answers of other stores; what is stored already stays as it is."""
    from seal.core.store import FILE_NAME
    from seal.simulator_cache.exchange import merge as merge_stores

    files = [other / FILE_NAME if other.is_dir() else other for other in others]
    with output(json) as result, _store(cache_dir) as store:
        plain = merge_stores(store, files).to_plain()
        result.result(plain)
        result.show(*field_lines(plain))
    return 0


@app.command()
def verify(
    pool: Annotated[str, typer.Argument(metavar="NAME|DIR", help="Tools that answers must fit.")],
    repair: Annotated[bool, typer.Option("--repair", help="Remove damaged entries.")] = False,
    cache_dir: CacheDir = None,
    json: Json = False,
) -> int:
    """Find damaged entries and answers that break their tool's response shape; then exit with 1."""
    from seal.pools.lookup import open_pool
    from seal.simulator_cache.verify import verify as check

    tools = {tool.id: tool for tool in open_pool(pool).tools()}
    with output(json) as result, _store(cache_dir) as store:
        report = check(store, tools, repair)
        plain = asdict(report)
        result.result({**plain, "sound": report.sound})
        result.show(*field_lines(plain))
    return 0 if report.sound else 1


def _store(cache_dir: Path | None) -> "Store":
    from seal.core.places import cache_folder
    from seal.core.store import FILE_NAME, Store

    return Store(cache_folder(cache_dir) / FILE_NAME)
