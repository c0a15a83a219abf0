"""What a model can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seal.core.signatures import checked

if TYPE_CHECKING:
    from seal.models.probe import Way


@checked
def probe(model: Any, *, base_url: str | None = None, **options: Any) -> list[Way]:
    """Ask a model whether it makes calls, several at once, and uses results, in each format.

    Args:
        model: As of a run: PROVIDER/MODEL, a registered name, a dotted path or an object; a text
            may carry options, as `seal.Model` writes them, which go before those below.
        base_url: Its server.
        **options: Of the model, such as `timeout_s`.

    Returns:
        One for each format and way of giving results, the better ones first; `works` tells whether
        the model can be played so. Ten small requests in all, none of them kept.

    Raises:
        UnknownNameError: No such model.
        UsageError: The model plays tasks, of which there is none here.
        ModelError: The server cannot be reached, or takes no request at all.
    """
    from seal.models import ModelSettings, build_model
    from seal.models.probe import probe as ask

    settings = ModelSettings(base_url=base_url).told(options)
    return ask(build_model(model, settings), model)
