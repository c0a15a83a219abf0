"""What every retriever keeps to: cut-off, order, options as a text."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from seal.core import DataError, OptionError, Tool, UnknownNameError, UsageError
from seal.core.secrets import refuse_secret
from seal.core.specs import Notation, label_of

DECIMALS = 6
"""Scores are rounded to this many decimals: the noise of one machine's arithmetic lies below."""

Number = TypeVar("Number", int, float)
Hits: TypeAlias = list[tuple[str, float]]
"""(tool id, score), best first, equal scores in the order of ids."""


def check_k(k: int) -> None:
    """Reject a cut-off below 1.

    Raises:
        UsageError: k is less than 1.
    """
    if k < 1:
        raise UsageError(f"k = {k}: a retriever returns at least 1 tool; give --top-k 1 or more")


def refuse_unknown_options(whose: str, given: Iterable[str], known: Collection[str]) -> None:
    """Reject options that nothing reads; `base_url` is the whole run's, and passes.

    Raises:
        UnknownNameError: Lists the known ones.
    """
    for name in given:
        if name not in known and name != "base_url":
            raise UnknownNameError(f"option -R of {whose}", name, known)


def number_option(options: Mapping[str, Any], name: str, default: float, most: float) -> float:
    """Return an option that is a number from 0 to `most`, else its default.

    Raises:
        OptionError: It is something else.
    """
    value = options.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        bounds = f"from 0 to {most:g}" if most < math.inf else "of at least 0"
        raise OptionError(f"{name} = {value!r}: expected a number {bounds}")
    return float(value)


def whole_option(options: Mapping[str, Any], name: str, default: int, least: int) -> int:
    """Return an option that is a whole number of at least `least`, else its default.

    Raises:
        OptionError: It is something else.
    """
    value = options.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(f"{name} = {value!r}: expected a whole number of at least {least}")
    return value


def above_zero(name: str, value: Any, kind: Callable[[Any], Number]) -> Number:
    """Return an option that is a number above 0; a text may spell it.

    Raises:
        OptionError: It is something else.
    """
    try:
        number = kind(value)
    except (TypeError, ValueError):
        number = kind(0)
    if not 0 < number < math.inf:
        raise OptionError(f"-R {name}={value}: expected a number above 0")
    return number


def made_of(factory: Any, given: Any, fault: str) -> Any:
    """Return what a class or function makes of one argument.

    Args:
        factory: The class or function.
        given: The argument.
        fault: What is said of a factory that takes no such argument.

    Raises:
        OptionError: The factory does not take one argument.
    """
    try:
        inspect.signature(factory).bind(given)
    except (TypeError, ValueError) as error:  # ValueError: a built-in without a signature
        raise OptionError(f"{fault} ({error})") from error
    return factory(given)


def by_place(tools: Iterable[str], count: int) -> Hits:
    """Return tools as hits in their order, with scores that count down from `count`."""
    return [(tool, float(count - place)) for place, tool in enumerate(tools)]


def by_score(hits: Iterable[tuple[str, float]]) -> Hits:
    """Return the hits, best first, equal scores in the order of ids."""
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


def finite(score: Any, name: str) -> float:
    """Return a score with `DECIMALS` decimals, never -0.0.

    Raises:
        DataError: It is not finite; names the retriever.
        TypeError: It is no number; ValueError likewise.
    """
    number = round(float(score), DECIMALS) + 0.0
    if not math.isfinite(number):
        raise DataError(f"retriever {name}: a score is not a finite number, but {number}; mend it")
    return number


def in_order(tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools in the order of their ids, so that the order of a file never matters.

    Raises:
        DataError: There are no tools, or an id stands twice.
    """
    if not tools:
        raise DataError("the pool has no tools: nothing can be retrieved; check its tools.jsonl")
    ordered = sorted(tools, key=lambda tool: tool.id)
    for left, right in pairwise(ordered):
        if left.id == right.id:
            raise DataError(f"two tools of the pool have the id {left.id!r}; import it again")
    return ordered


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
