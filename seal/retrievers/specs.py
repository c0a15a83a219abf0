"""A retriever with its options in one text: `dense,model=all-MiniLM-L6-v2,index=hnsw`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seal.core.secrets import refuse_secret
from seal.core.specs import Notation, label_of

_NOTATION = Notation("retriever", "dense,model=all-MiniLM-L6-v2,index=hnsw")


@dataclass(frozen=True)
class RetrieverSpec:
    """Which retriever, with which options.

    Raises:
        UsageError: An option is a service's key.
    """

    what: Any
    """A name, a dotted path, a class or factory that takes the pool, or a ready retriever."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """They go before the options of the pool."""

    def __post_init__(self) -> None:
        refuse_secret("", self.options, f"the options of the retriever {self.what}")

    @property
    def identity(self) -> str:
        """The text of the spec, options in the order of their names."""
        name = self.what if isinstance(self.what, str) else label_of(self.what)
        return _NOTATION.text(name, self.options)


def parse_spec(text: str) -> RetrieverSpec:
    """Return what `NAME[,KEY=VALUE...]` says, as `seal.core.specs.Notation.parse` reads it.

    Raises:
        UsageError: The name or a key is empty, a key stands twice or has no `=`, or an option is a
            service's key.
    """
    return RetrieverSpec(*_NOTATION.parse(text))


def spec_of(what: Any) -> RetrieverSpec:
    """Return the spec of whatever names or is a retriever.

    Raises:
        UsageError: A text that `parse_spec` refuses.
    """
    if isinstance(what, RetrieverSpec):
        return what
    return parse_spec(what) if isinstance(what, str) else RetrieverSpec(what)
