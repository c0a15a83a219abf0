"""Tell which code, servers and files a pool or run from elsewhere asks for."""

from dataclasses import asdict
from pathlib import Path

from seal.cli.groups import verb
from seal.cli.options import ALLOW_CODE, JSON, POOL
from seal.cli.output import output
from seal.core import UsageError


@verb("trust")
def trust_command(
    pool: str = POOL, allow_code: tuple[str, ...] = ALLOW_CODE, json: bool = JSON
) -> int:
    """Tell which code, servers and files a pool or run asks for; none of its code is imported.

    The exit code is 1 if it names code that is refused, or a world or team that nobody here offers.
    """
    from seal.pools.lookup import open_pool
    from seal.pools.trust import asked_by
    from seal.report.grids import Grid

    if ":" in pool and not Path(pool).is_dir():
        raise UsageError(
            f"{pool} names code, which would be imported; name the folder of a pool or run"
        )
    with output(json) as result:
        asked = asked_by(open_pool(pool).folder, allow_code)
        result.result({"pool": pool, "asked": list(map(asdict, asked))})
        rows = [[one.what, one.name, one.place, one.answer] for one in asked]
        grid = Grid("", ["asks for", "name", "where", "answer"], rows, names=4)
        result.show(grid if rows else f"{pool} asks for nothing")
    return int(any(one.refused for one in asked))
