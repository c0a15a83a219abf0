"""What a sweep varies: the pool's size, the sample, and how many tools a chat is offered."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, get_args

from seal.core.errors import UsageError
from seal.pipeline.retrieval.settings import (
    Distractors,
    QueriesIn,
    Size,
    check_above_zero,
    check_known,
    in_order,
)
from seal.pipeline.settings import RunSettings
from seal.retrievers.specs import spec_of

RECALL_AT = 10
"""K of the recall that every sweep measures, as in the paper's Table 3."""
_RETRIEVER = "tfidf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSettings:
    """What a sweep varies; everything else is `RunSettings`."""

    pool_sizes: tuple[Size, ...] = ("all",)
    """Tools of the drawn pools, at most as many as there are. "all": the whole pool; beside other
    sizes it is asked what it can be drawn for, alone all its tasks."""
    samples: int = 3
    """Pools drawn of each size. The whole pool is played once where all samples of it are equal."""
    distractors: Distractors = "uniform"
    """What fills a drawn pool up: any tools, those of the same services first, or those most like
    the relevant ones by tf-idf first."""
    queries_in: QueriesIn = "closure"
    """Tasks that are asked: all that a drawn pool can answer, those that it was drawn for, or the
    same ones at every size."""
    nested: bool = True
    """True: of one sample, every pool lies inside the larger ones."""
    queries: int | None = None
    """Tasks that are drawn of each pool, so that pools count alike; None: all."""
    top_k: tuple[int, ...] = (RunSettings().top_k,)
    """Tools that a chat is offered; every pool is played with each K."""

    def __post_init__(self) -> None:
        """Put numbers in order, each once, and reject values that no sweep can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        check_above_zero("top-k", self.top_k)
        check_above_zero("pool-sizes", [size for size in self.pool_sizes if size != "all"])
        check_above_zero("samples", [self.samples])
        check_above_zero("queries", [] if self.queries is None else [self.queries])
        if not self.top_k or not self.pool_sizes:
            raise UsageError("--top-k and --pool-sizes need at least one number, such as 10,50")
        check_known("distractors", self.distractors, get_args(Distractors))
        check_known("queries_in", self.queries_in, get_args(QueriesIn))
        object.__setattr__(self, "top_k", tuple(sorted(set(self.top_k))))
        object.__setattr__(self, "pool_sizes", in_order(self.pool_sizes))

    @property
    def whole(self) -> bool:
        """True where no pool is drawn: the pool is played as it stands."""
        return self.pool_sizes == ("all",)

    def protocol(self) -> dict[str, Any]:
        """Return what was varied, for sweep.json."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }


def retriever_of(settings: RunSettings) -> Any:
    """Return the retriever of every run of a sweep: the one that was named, else tf-idf.

    Raises:
        UsageError: It is `given`, or the model is a recording: neither depends on the pool.
    """
    model, named = settings.model, settings.retriever
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
    return _RETRIEVER if named is None else named
