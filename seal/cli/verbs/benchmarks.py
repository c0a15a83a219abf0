"""List the benchmarks that ship and those that can be imported."""

from seal.cli.options import Json, new_app
from seal.cli.output import output

app = new_app()


@app.command()
def command(json: Json = False) -> int:
    """List the benchmarks that ship and those that can be imported."""
    from seal.benchmarks import REGISTRY
    from seal.pipeline.pools import SHIPPED

    with output(json) as result:
        shipped = sorted(SHIPPED)
        result.result({"shipped": shipped, "importers": REGISTRY.names()})
        result.show(
            f"shipped, played by `seal run NAME`: {', '.join(shipped)}",
            f"imported by `seal import NAME SOURCE --out DIR`: {', '.join(REGISTRY.names())}",
        )
    return 0
