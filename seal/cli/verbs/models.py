"""List the models that can play a role."""

from seal.cli.options import Json, new_app
from seal.cli.output import output

app = new_app()


@app.command()
def command(json: Json = False) -> int:
    """List the models that can play a role: providers and offline ones."""
    from seal.models import REGISTRY

    with output(json) as result:
        result.result({"models": REGISTRY.names()})
        result.show(*REGISTRY.names())
    return 0
