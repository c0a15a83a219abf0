"""Every error that SEAL raises on purpose.

    SealError
    ├── UsageError              asked for something that cannot be        exit code 2
    │   ├── UnknownNameError    no plug-in, role, metric... of that name
    │   │   └── UnknownKeyError  a result holds nothing of that name; a KeyError too
    │   ├── OptionError         an option's value cannot be
    │   └── MissingExtraError   an optional dependency is not installed
    ├── DataError               a file or record is not what it must be   exit code 2
    │   └── CodeRefusedError    data names code that the user did not allow
    ├── InfrastructureError     server, network, store: never a score     exit code 1
    │   ├── ModelError          a model's server failed or was refused
    │   │   └── RequestError    this request cannot be answered; another one may be
    │   ├── OverdueError        something takes longer than it may
    │   ├── SimulatorError      a simulator gave no usable answer
    │   └── CacheMissError      nothing stored under replay mode
    ├── NotRecordedError        no recording to play: the task is skipped
    ├── NoVerdictError          a judge said nothing usable: counted, never a score
    ├── OutageError             a server takes no request of a run        exit code 3
    └── BudgetError             a run-wide budget is spent                exit code 3

A tool's failure is no error here: it is a `ToolResult` that the model reads. A message says what,
got, expected and the repair.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

    from seal.core.protocols import Refusal


class _Short(reprlib.Repr):
    """What Python writes for values, but the type of an object that would take several lines."""

    def repr_instance(self, x: object, level: int) -> str:
        text = super().repr_instance(x, level)
        with suppress(Exception):  # of a stranger's object, which the text above tells
            return f"<{type(x).__name__}>" if "\n" in repr(x) else text
        return text

    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # more digits than Python writes
            return f"<a whole number of {x.bit_length()} bits>"


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 100
_SHORT.maxdict = _SHORT.maxlist = 10


_LONGEST_WORD = 1000
_LONGEST_TEXT = 20_000
_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD},}}")


def _of_usual_length(text: str) -> str:
    """Return a message with the starts of words that are longer than any path."""
    if len(text) < _LONGEST_WORD:
        return text
    text = _LONG_WORD.sub(lambda found: f"{found[0][:100]}...", text)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


class SealError(Exception):
    """Base of every error raised on purpose; its text is meant for the user.

    Example:
        >>> import seal
        >>> try:
        ...     seal.run("sample", top_k="ten")
        ... except seal.SealError as error:
        ...     print(error)
        top_k: expected a whole number, got 'ten' (str); give that, or leave top_k out
    """

    def __init__(self, *said: object) -> None:
        # A file's cell, a model's call or a server's answer may be quoted, and be of any length.
        super().__init__(*(_of_usual_length(one) if isinstance(one, str) else one for one in said))


class UsageError(SealError):
    """The caller asked for something that cannot be; the text names the repair."""


class OptionError(UsageError):
    """An option of a plug-in has a value that it cannot have, whatever is installed or online."""


class UnknownNameError(UsageError):
    """No plug-in, role, metric or benchmark has this name.

    Args:
        kind: What was looked for, such as "retriever".
        name: The name that was asked for.
        known: The names that exist, or those of them that come closest.
        more: How many exist besides.
        cure: What to do where none of them is meant, as a sentence.
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], more: int = 0, cure: str = ""
    ) -> None:
        self.kind = kind
        self.name = name
        self.known = sorted(known)
        self.more = more
        self.cure = cure
        closest = nearest(str(name), self.known)
        hint = f" Did you mean {closest!r}?" if closest else ""
        told = f"; known: {told_names(self.known, more)}" if self.known or not cure else ""
        super().__init__(f"no {kind} {shortened(name)}{told}.{hint} {cure}".rstrip())

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str], int, str]]:
        """Cross to another process by the arguments, of which the text is made."""
        return type(self), (self.kind, self.name, self.known, self.more, self.cure)


def check_name(kind: str, name: str, known: Collection[str]) -> None:
    """Make sure that there is something of a name.

    Raises:
        UnknownNameError: There is not.
    """
    if name not in known:
        raise UnknownNameError(kind, str(name), known)


class UnknownKeyError(UnknownNameError, KeyError):
    """A result holds nothing of this name; a mapping's `in` and `get` take it as a KeyError."""

    __str__ = Exception.__str__  # a KeyError's own would put the text in quotes


class MissingExtraError(UsageError):
    """An optional dependency is absent; the text names the install command."""

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{package} is not installed; it comes with the extra {extra!r}: "
            f'pip install "seal-api-llms[{extra}]", or ".[{extra}]" in a checkout'
        )

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """Cross to another process by the arguments, of which the text is made."""
        return type(self), (self.package, self.extra)


@contextmanager
def needing(package: str, extra: str) -> Iterator[None]:
    """Let what is imported within be of a package that comes with an extra.

    Raises:
        MissingExtraError: It is not installed.
        InfrastructureError: Memory is short.
    """
    try:
        yield
    except ImportError as error:
        if is_short_of_memory(error):
            raise InfrastructureError(short_of_memory(error)) from error
        raise MissingExtraError(package, extra) from error


class DataError(SealError):
    """A file or record is malformed; the text names the file, the place and the repair."""


@contextmanager
def located(place: object, *further: type[Exception], mark: str = ": ") -> Iterator[None]:
    """Say where it was of each `DataError` that is raised within, as a `DataError`.

    Args:
        place: What the text begins with, such as a file and a line.
        *further: Other errors of which this is said too.
        mark: Between the place and what was wrong.
    """
    kinds: tuple[type[Exception], ...] = (DataError, *further)
    try:
        yield
    except kinds as error:
        raise DataError(f"{place}{mark}{error}") from error


class CodeRefusedError(DataError):
    """Data names code that the user did not allow; the text names the module and the repair."""


class InfrastructureError(SealError):
    """A server, a network or a store failed: the task becomes an error, never a score."""


class ModelError(InfrastructureError):
    """A model's server could not be reached, refused, or kept failing.

    Args:
        text: What happened, and the repair.
        said: The server's own words, all of them; without secrets.
    """

    def __init__(self, text: str, said: str = "") -> None:
        super().__init__(text)
        self.said = said
        self.param = ""
        """The field that the server names as the one that it refuses; empty: it names none."""


class RequestError(ModelError):
    """A model cannot answer this one request, however often it is asked; it may answer others.

    Args:
        text: What happened, and the repair.
        refusal: Where this is the model's own outcome, which one it is.
        status: HTTP status of the server's refusal; 0: it was no server that refused.
        said: The server's own words, all of them; without secrets.
        wrote: What the model wrote, where the server could not read the calls in it.
    """

    def __init__(
        self,
        text: str,
        refusal: Refusal | None = None,
        status: int = 0,
        said: str = "",
        wrote: str | None = None,
    ) -> None:
        super().__init__(text, said)
        self.refusal = refusal
        self.status = status
        self.wrote = wrote


class OverdueError(InfrastructureError):
    """Something takes longer than it may; of a role in a chat: than the chat may last."""


class SimulatorError(InfrastructureError):
    """A simulator gave no usable answer."""


class CacheMissError(InfrastructureError):
    """Replay mode found nothing stored; the text names the call."""


class NotRecordedError(SealError):
    """A recorded model has no recording for this task: the task is skipped and counted."""


class NoVerdictError(SealError):
    """A judge answered off the scale, in prose or not at all: counted, never a score."""


class OutageError(SealError):
    """A run ended before its first chat did: a server that it asks takes no request."""


class BudgetError(SealError):
    """A budget of the whole run is spent; what is finished is kept and can be resumed."""


def nearest(name: str, known: Iterable[str], threshold: float = 60.0) -> str | None:
    """Return the known name most like `name`, or None where none is alike.

    Args:
        name: The name that was asked for.
        known: Candidates.
        threshold: Least similarity, whatever the case of letters: rapidfuzz's normalised indel
            ratio in [0, 100]. Of equally similar names the first in order. Where none is so
            similar, the one name whose first words it is: `user` of `user_simulator`.
    """
    from rapidfuzz import fuzz, process  # imported on failure only: `import seal` stays light

    # Names of very different lengths are not alike: nothing that long is compared with them.
    known, length, share = list(known), len(name.casefold()), threshold / (200 - threshold)
    alike = (one for one in known if length * share <= len(one.casefold()) <= length / share)
    names = sorted(alike)
    best = process.extractOne(
        name, names, scorer=fuzz.ratio, processor=str.casefold, score_cutoff=threshold
    )
    if best:
        return best[0]
    first = f"{name.casefold()}_"
    begun = [one for one in known if one.casefold().startswith(first)]
    return begun[0] if len(begun) == 1 else None


_EXPECTED = {
    "bool": "true or false",
    "dataclass": "an object",
    "dict": "an object",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "mapping": "an object",
    "string": "a text",
    "tuple": "a list",
}
"""What pydantic's errors expect, by the first word of their names: `int_parsing`, `tuple_type`."""
_OF_TYPE = frozenset({"exact_type", "from_float", "parsing", "type"})
"""The rest of the names of errors that say no more than that."""


def first_fault(error: ValidationError) -> str:
    """Return the first thing that pydantic found wrong, as `field.0.field: what, got what`."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "record"
    if first["type"] == "missing":
        return f"{place}: the field is missing"
    if first["type"] == "unexpected_keyword_argument":
        return f"{place}: there is no such field, got {shortened(first['input'])}"
    if first["type"] == "fields":  # of a record within, whose fault says what was there
        return f"{place}: {first['msg']}"
    kind, _, how = first["type"].partition("_")
    told = first["msg"].replace("Input should be", "expected")
    what = f"expected {_EXPECTED[kind]}" if how in _OF_TYPE and kind in _EXPECTED else told
    return f"{place}: {what}, got {shortened(first['input'])}"


_NO_ROOM = re.compile("failed to map segment|cannot allocate memory", re.IGNORECASE)


def is_short_of_memory(error: BaseException) -> bool:
    """Tell whether an import failed as the system gave no memory for it, whatever it raised."""
    if isinstance(error, (ImportError, OSError)):
        return _NO_ROOM.search(text_of(error)) is not None
    return isinstance(error, MemoryError)


def short_of_memory(error: BaseException) -> str:
    """Return what to do where `is_short_of_memory`, with what the system said."""
    said = _NO_ROOM.search(text_of(error))
    told = f" ({said[0]})" if said else ""
    return f"memory is short{told}; free some, or raise this process's limit (ulimit -v)"


def fault(error: BaseException) -> str:
    """Return what an unforeseen exception says, and the place in the code that raised it.

    The place is the last one outside Python's own library and installed packages, if there is one.
    """
    import sysconfig
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    libraries = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
    own = [frame for frame in frames if not frame.filename.startswith((*libraries, "<"))]
    said = text_of(error)
    if len(said) > _LONGEST:
        said = f"{said[:_LONGEST]}... (and {len(said) - _LONGEST} characters more)"
    text = f"{type(error).__name__}: {said}"
    for place in (own or frames)[-1:]:
        text += f" ({Path(place.filename).name}, line {place.lineno}, in {place.name})"
    return text


def text_of(error: BaseException) -> str:
    """Return what an exception says, or that its own code fails at that."""
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as failed:
        return f"its text cannot be had, for that raises {type(failed).__name__}"


_LONGEST = 10_000
"""Characters of an exception's text that are told."""


_LISTED = 50
"""Names that a message lists."""


def told_names(names: Iterable[str], more: int = 0) -> str:
    """Return names for a message: the first 50, each cut to 200 characters; or `none`.

    Args:
        names: In the order in which they are listed.
        more: How many there are besides.
    """
    given = list(names)
    more += max(0, len(given) - _LISTED)
    shown = [one if len(one) <= 200 else f"{one[:197]}..." for one in given[:_LISTED]]
    return (", ".join(shown) or "none") + (f" and {more} more" if more else "")


def shortened(value: object) -> str:
    """Return the value as Python writes it, for a message: at most 200 characters."""
    text = _SHORT.repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
