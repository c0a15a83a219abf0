"""What a sweep varies: the pool's size, the sample, and how many tools a chat is offered."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from seal import retrievers
from seal.core import UsageError
from seal.core.field_docs import with_field_docs
from seal.core.typed_values import Count
from seal.experiments.pool_draws import Drawing
from seal.retrievers.contract import spec_of
from seal.runs.settings import RunSettings

RECALL_AT = 10
"""K of the recall that every sweep measures, as in the paper's Table 3."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class SweepSettings(Drawing):
    """What a sweep varies; everything else is `RunSettings`.

    A size is at most that of the pool. If only the whole pool is played, all its tasks are asked.
    Beside other sizes, it is asked the tasks that pools can be drawn for. If all samples of the
    whole pool are equal, it is played once.
    """

    samples: Count = 3
    """Number of pools to draw of each size."""
    top_k: tuple[Count, ...] = (RunSettings().top_k,)
    """How many tools a chat is offered; every pool is played with each K."""

    def __post_init__(self) -> None:
        """Sort the numbers, each once, and reject values that no sweep can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        super().__post_init__()
        object.__setattr__(self, "top_k", tuple(sorted(set(self.top_k))))

    @property
    def whole(self) -> bool:
        """True: no pool is drawn, and the whole pool is played."""
        return self.pool_sizes == ("all",)

    def protocol(self) -> dict[str, Any]:
        """Return what was varied, for sweep.json."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }


def retriever_of(settings: RunSettings) -> Any:
    """Return the retriever of every run of a sweep: the one that was named, else the default.

    Raises:
        UsageError: The retriever is `given`, or the model is a recording: neither depends on the
            pool.
    """
    model, named = settings.model, settings.finder
    if isinstance(model, str) and model.startswith("recorded:"):
        raise UsageError(
            f"--model {model}: recorded chats were played over the whole pool; "
            "sweep with a model that plays anew"
        )
    if spec_of(named).what == "given":
        raise UsageError(
            "--retriever given offers every task its own tools, whatever the pool holds and K is; "
            "sweep with a retriever that searches, such as tfidf"
        )
    return retrievers.DEFAULT if named is None else named
