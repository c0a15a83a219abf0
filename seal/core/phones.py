"""Phone numbers and addresses as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_PHONE = re.compile(
    r"(?<![\w+.:/-])(?:\+|00|\()\d[\d().-]{0,4}(?:(?!\. )[ .()-]{0,2}\d{1,5}){1,6}(?!\w|:\d)"
    r"|(?<![\w+.:/-])(?:1[ .-]?)?(?:\d{3}[ .-]|\(\d{3}\)[ .-]?)\d{3}[ .-]?\d{4}(?!\w|:\d)"
    r"|(?<![\w+.:/-])0(?!\d-\d\d-\d{4})\d{1,4}(?:[ -]\d{2,4}){2,4}(?!\w|:\d)"
)
"""A phone number as people write it: with a country's code, with gaps as in North America, or with
the zero that is dialled at home. A sentence ends it."""
BARE_PHONE = re.compile(r"(?<![\w+.:/-])\d{1,5}(?:[ .-]\d{1,5}){1,6}(?!\w|:\d)")
"""One without code and zero, however it is grouped, which may be numbers as well."""
_PARTED = re.compile(r"\+?(?:[\s().-]*\d){5,19}[\s().-]*")
PHONE_DIGITS = 7
"""Digits of a phone number, at least."""
_DIGITS = range(PHONE_DIGITS, 16)
"""E.164 allows 15, the country's code among them."""
COUNTRY = re.compile(
    r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|2[1-689]\d|3[578]\d|42\d|50\d|59\d|6[7-9]\d|8[05789]\d|9[679]\d"
)
"""Country calling codes. Source: ITU-T E.164, list of assigned codes."""
_ADDRESS = re.compile(
    r"(?<!\w)(?:https?://|www\.)[\w.-]+/[^\s\"'<>()\[\]{}|\\^`]+|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+"
)
"""An address of mail, or of the web that is more than a host."""


def phones_at(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the phone numbers of a text, with their places."""
    for match in _PHONE.finditer(text):
        is_whole = match[0].count("(") == match[0].count(")")
        written = match[0] if is_whole else match[0].removeprefix("(")
        is_whole = is_whole or "(" not in written
        if is_whole and digits_in(written) in _DIGITS:
            yield written, match.end() - len(written), match.end()


def digits_in(text: str) -> int:
    """Return how many digits a text has."""
    return sum(map(str.isdigit, text))


class Phones(NamedTuple):
    """Phone numbers by their digits."""

    whole: set[str]
    """With their country's codes."""
    local: set[str]
    """Without, as far as the codes are known; nor the zero that is dialled at home."""


def phone_of(written: str) -> Phones:
    """Return a phone number, without what is dialled before its code, and "(0)" after it."""
    digits = re.sub(r"\D", "", re.sub(r"(?<=\d)\s*\(0\)", "", written))
    if len(digits) not in _DIGITS:
        return Phones(set(), set())
    is_whole = digits.startswith("00") or written.lstrip(" (").startswith("+")
    digits = digits.removeprefix("00")
    if not is_whole and not (len(digits) == 11 and digits[0] == "1"):  # of North America
        return Phones(set(), {digits.removeprefix("0")})
    local = {digits[n:].removeprefix("0") for n in (1, 2, 3) if COUNTRY.fullmatch(digits[:n])}
    return Phones({digits}, {one for one in local if len(one) >= _DIGITS.start})


def same_phone(one: str, other: str) -> bool:
    """Tell whether two phone numbers are one; either may lack its country's code."""
    (whole, local), (other_whole, other_local) = phone_of(one), phone_of(other)
    if whole and other_whole:
        return bool(whole & other_whole)
    return bool(local & other_local)


def addresses_at(plain: str) -> Iterator[tuple[str, int, int]]:
    """Yield the addresses of a text, with their places."""
    for match in _ADDRESS.finditer(plain):
        address = match[0].rstrip(".,;:!?*_-/")
        bare = (address.partition("://")[2] or address).removeprefix("www.")
        yield bare, match.start(), match.start() + len(address)


def is_phone(value: str) -> bool:
    """Tell whether a text is a phone number, or another with as many digits, as people part it."""
    return _PARTED.fullmatch(value.strip()) is not None
