"""Dialogues as they are written down: a line a turn, with what it says of which slot inside.

    = tables-01
    U Tables_1.FindRestaurant: Somewhere with [terrace=a terrace|True] in [city=Larkmere].
    S! offer inform_count: There are 2. One is [restaurant=The Salt Loft].
    U: What's the address?[?street]
    S inform: They're at [street=3 Pilot Steps].
    U+ Tables_1.BookTable: Good, get us a table.

| written | meaning |
|---|---|
| = ID | a dialogue begins |
| U SERVICE.API: TEXT | the user says this, and wants this API from now on; NONE: nothing more |
| U+ | the user accepts what the system offered last, or affirms what it asked to confirm |
| S ACTS: TEXT | the system says this; its dialogue acts |
| S! | before, it calls the API that the user wants, with all that was said |
| S!0 | the same, and the call brings nothing |
| [slot=TEXT] | a text that is also the slot's value |
| [slot=TEXT, a stroke, VALUE] | a text of a slot, and the value that it means |
| [?slot] | not said: the slot is asked for |
| # | the line is a remark |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from seal.core import DataError, shortened

_USER = re.compile(r"U(?P<accepts>\+?)(?: (?P<wants>NONE|\w+\.\w+))?: (?P<text>.+)")
_SYSTEM = re.compile(r"S(?P<calls>!0?)?(?P<acts>(?: [a-z_]+)+): (?P<text>.+)")
_MARK = re.compile(
    r"\[(?:\?(?P<asked>\w+)|(?P<slot>\w+)=(?P<said>[^\]|]+)(?:\|(?P<value>[^\]]+))?)\]"
)


class Said(NamedTuple):
    """What a text says of a slot."""

    slot: str
    text: str
    value: str
    """What the text means, as the apps have it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side says at once."""

    text: str
    said: tuple[Said, ...]
    asked: tuple[str, ...]
    """Slots that it asks for."""


@dataclass(frozen=True, slots=True)
class UserTurn(Turn):
    """A turn of the user."""

    accepts: bool
    wants: tuple[str, str] | None
    """Service and API, both empty for nothing more; None: what it wanted before."""


@dataclass(frozen=True, slots=True)
class SystemTurn(Turn):
    """A turn of the system."""

    acts: tuple[str, ...]
    calls: bool
    fails: bool
    """True: the call brings nothing."""


@dataclass(slots=True)
class Written:
    """A dialogue as it is written."""

    id: str
    exchanges: list[tuple[UserTurn, SystemTurn]] = field(default_factory=list)


def dialogues(text: str, where: str) -> Iterator[Written]:
    """Yield the dialogues of a text in their order.

    Args:
        text: In the notation.
        where: For messages.

    Raises:
        DataError: A line is not in the notation, or stands where it cannot. The text names its
            number.
    """
    dialogue: Written | None = None
    user: UserTurn | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        place = f"{where}, line {number}"
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("= "):
            yield from _finished(dialogue, user, place)
            dialogue = Written(line.removeprefix("= ").strip())
        elif dialogue is None:
            raise DataError(
                f"{place}: expected '= ID' before the first turn, got {shortened(line)}"
            )
        elif user is None:
            user = _user(line, place)
        else:
            dialogue.exchanges.append((user, _system(line, place)))
            user = None
    yield from _finished(dialogue, user, f"{where}, at its end")


def _finished(dialogue: Written | None, user: UserTurn | None, place: str) -> Iterator[Written]:
    if user is not None:
        raise DataError(f"{place}: expected 'S ACTS: TEXT' after the user's turn")
    if dialogue is not None:
        yield dialogue


def _user(line: str, place: str) -> UserTurn:
    match = _USER.fullmatch(line)
    if match is None:
        raise DataError(f"{place}: expected 'U SERVICE.API: TEXT', got {shortened(line)}")
    wants = match["wants"]
    service, _, api = ("" if wants in (None, "NONE") else wants).partition(".")
    return UserTurn(
        *_marked(match["text"], place),
        accepts=bool(match["accepts"]),
        wants=None if wants is None else (service, api),
    )


def _system(line: str, place: str) -> SystemTurn:
    match = _SYSTEM.fullmatch(line)
    if match is None:
        raise DataError(f"{place}: expected 'S ACTS: TEXT', got {shortened(line)}")
    return SystemTurn(
        *_marked(match["text"], place),
        acts=tuple(match["acts"].split()),
        calls=match["calls"] is not None,
        fails=match["calls"] == "!0",
    )


def _marked(text: str, place: str) -> tuple[str, tuple[Said, ...], tuple[str, ...]]:
    """Return a text without its marks, what they say, and what they ask for."""
    marks = list(_MARK.finditer(text))
    plain = _MARK.sub(lambda mark: mark["said"] or "", text)
    if "[" in plain or "]" in plain:
        raise DataError(f"{place}: expected [slot=TEXT] or [?slot] alone in brackets")
    said = [Said(m["slot"], m["said"], m["value"] or m["said"]) for m in marks if m["slot"]]
    return plain.strip(), tuple(said), tuple(m["asked"] for m in marks if m["asked"])
