"""Texts and ranges that suit a field's name or a JSON Schema format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from seal.core.package_data import shipped_json
from seal.core.text import words


class SeededChoice(Protocol):
    """Chooses: the same count and salt give the same number."""

    def __call__(self, count: int, salt: str = "", /) -> int:
        """Return a number in [0, count)."""
        ...


def vocabulary() -> dict[str, Any]:
    """Return words, usual values and ranges."""
    found: dict[str, Any] = shipped_json("seal.simulator_cache", "words.json")
    return found


def named_range(name: str) -> tuple[float, float]:
    """Return the least and the greatest usual number of a field, such as 0 and 23 for `hour`."""
    ranges = vocabulary()["ranges"]
    found = next((ranges[word] for word in reversed(words(name)) if word in ranges), (1, 100))
    return found[0], found[1]


def named_text(name: str, draw: SeededChoice, about: Sequence[str] = ()) -> str:
    """Return a text that suits a field's name; its last telling word decides.

    Args:
        name: Of the field.
        draw: Chooses.
        about: Words of the tool, which tell whose status it is.
    """
    parts, known = words(name), vocabulary()
    if "status" in parts:
        for word in reversed([*about, *parts]):
            if singular(word) in known["statuses"]:
                return _one(known["statuses"][singular(word)], draw)
    for word in reversed(parts):
        if word in known["texts"]:
            return _one(known["texts"][word], draw)
        if word in _MADE:
            return _MADE[word](draw)
    for word in reversed(parts):
        if word in known["generic"]:
            return _one(known["generic"][word], draw)
    if parts and parts[-1] in known["things"]:
        return f"{parts[-1]} {1 + draw(999)}"
    plain = known["plain"]
    return f"{plain[draw(len(plain))]} {plain[draw(len(plain), 'second')]}"


def singular(noun: str) -> str:
    """Return the singular of a plural by its ending; any other word as it is."""
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "news")) else noun


def _one(options: Sequence[str], draw: SeededChoice) -> str:
    return str(options[draw(len(options))])


def _date(draw: SeededChoice) -> str:
    return f"2024-{1 + draw(12, 'month'):02d}-{1 + draw(28, 'day'):02d}"


def _time(draw: SeededChoice) -> str:
    return f"{draw(24, 'hour'):02d}:{draw(60, 'minute'):02d}:00"


def _hex(draw: SeededChoice, digits: int = 8) -> str:
    return f"{draw(16**digits, 'hex'):0{digits}x}"


def _url(draw: SeededChoice) -> str:
    return f"https://www.example.org/{_hex(draw)}"


def _email(draw: SeededChoice) -> str:
    return f"{vocabulary()['plain'][draw(8, 'user')]}@example.org"


def _uuid(draw: SeededChoice) -> str:
    return f"{_hex(draw)}-0000-4000-8000-{draw(16**12, 'tail'):012x}"


FORMATS: dict[str, Callable[[SeededChoice], str]] = {
    "date": _date,
    "time": lambda draw: _time(draw) + "Z",
    "date-time": lambda draw: f"{_date(draw)}T{_time(draw)}Z",
    "email": _email,
    "uri": _url,
    "url": _url,
    "uuid": _uuid,
    "hostname": lambda draw: f"{_hex(draw)}.example.org",
    "ipv4": lambda draw: f"192.0.2.{1 + draw(254)}",
    "ipv6": lambda draw: f"2001:db8::{_hex(draw, 4)}",
}

_MADE: dict[str, Callable[[SeededChoice], str]] = {
    **dict.fromkeys(("url", "link", "uri", "href", "image", "img", "thumbnail"), _url),
    **dict.fromkeys(("id", "uuid", "key", "token", "hash", "code", "sku"), _hex),
    **dict.fromkeys(("date", "created", "updated", "published"), _date),
    "time": _time,
    "timestamp": lambda draw: f"{_date(draw)}T{_time(draw)}Z",
    "email": _email,
    "phone": lambda draw: f"+1-555-01{draw(100):02d}",
    "year": lambda draw: str(1990 + draw(35)),
    "price": lambda draw: f"{5 + draw(49500, 'cents') / 100:.2f}",
    "rating": lambda draw: f"{1 + draw(41) / 10:.1f}",
    "ip": lambda draw: f"192.0.2.{1 + draw(254)}",
}
