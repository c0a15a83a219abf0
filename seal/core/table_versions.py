"""Versions of tables: rows that they share, what differs, and how records tell of them."""

from __future__ import annotations

import copy
import marshal
from array import array
from collections import ChainMap, Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import compress, count, islice
from operator import is_not
from pathlib import Path
from typing import Any, TypeVar

from seal.core.errors import DataError, shortened
from seal.core.files import AtomicFile, content_of
from seal.core.values import canonical_json, is_same, json_bytes, json_value

# -- A version of a table: rows that nobody changes, and what it was asked before.

Row = Mapping[str, Any]
Plain = dict[str, Any]
Fill = Callable[[Row], Row]
"""Puts something in the place of absent values."""
Keys = MutableMapping[int, tuple[Row, bytes, bytes]]
"""Row, its canonical JSON, and that of what is not absent in it; the rows themselves are kept, else
their identities might become others'."""

Made = TypeVar("Made")

_NO_REFERENCES = 2
"""Version of marshal's format in which parts are not shared."""


class Version(list[Plain]):
    """A table that nobody changes.

    Args:
        rows: That nobody changes either.
        keys: Rows and their keys by the rows' identity; grows, and may be shared by versions.
    """

    def __init__(self, rows: Iterable[Any], keys: Keys | None = None) -> None:
        super().__init__(rows)
        self.keys: Keys = {} if keys is None else keys
        self.kept: dict[Path, str] = {}
        """Folder to the name under which it holds these rows (`TableWriter`)."""
        self._made: dict[Callable[[Version], Any], Any] = {}

    @classmethod
    def of(cls, table: Sequence[Row]) -> Version:
        """Return the table itself where it is a version, else one of the same rows."""
        return table if isinstance(table, Version) else cls(table)

    def __deepcopy__(self, known: dict[int, Any]) -> Version:
        """Return a table of copies, of which nothing is known: whoever copies it may change it."""
        return Version(copy.deepcopy(list(self), known))

    def __reduce__(self) -> tuple[Any, ...]:
        """Tell of the rows alone: what is known of them goes by their identity."""
        return Version, (list(self),)

    @cached_property
    def zeros(self) -> dict[str, Any]:
        """What stands for an absent value, "", 0 or False, by the type of the column's first."""
        found: dict[str, Any] = {}
        for row in self:
            for name, value in row.items():
                if value is not None and name not in found:
                    found[name] = zero(value)
        return found

    @cached_property
    def distinct(self) -> bool:
        """True only where no two rows are the same, whatever stands for absent values."""
        return len(self._alike) == len(self)

    def once(self, made: Callable[[Version], Made]) -> Made:
        """Return what is made of the table, which is made once."""
        if made not in self._made:
            self._made[made] = made(self)
        found: Made = self._made[made]
        return found

    @cached_property
    def written(self) -> bytes:
        """The rows as JSON."""
        return json_bytes(list(self))

    @cached_property
    def spelled(self) -> dict[bytes, Plain]:
        """The rows by their JSON; of several the first."""
        return {json_bytes(row): row for row in reversed(self)}

    def is_written_as(self, rows: Sequence[Plain]) -> bool:
        """Tell whether rows, which may have become anything, are still as these."""
        try:
            return json_bytes(rows) == self.written
        except TypeError:  # no JSON is left of them
            return False

    def copies(self) -> list[Plain]:
        """Return rows of which nothing can be changed through these."""
        if self._packed is None:
            return [copy.deepcopy(row) for row in self]
        fresh: list[Plain] = marshal.loads(self._packed)
        return fresh

    @cached_property
    def _packed(self) -> bytes | None:
        """What copies are made of, in a third of the time; None: a cell is of another type."""
        try:
            return marshal.dumps(list(self), _NO_REFERENCES)
        except ValueError:
            return None

    def apart(self, other: Version) -> Iterator[Plain]:
        """Yield the rows that are not among the other's very objects, in order.

        One that stands in several places comes as often as these are more than in the other.
        """
        start, end = _ends(self, other)
        common = Counter(map(id, other[start : len(other) - end]))
        for row in self[start : len(self) - end]:
            if common[id(row)]:
                common[id(row)] -= 1
            else:
                yield row

    def unlike(self, other: Version) -> list[Row]:
        """Return the rows, each once, as which none of another's is written."""
        rows: dict[bytes, Row] = {json_bytes(row): row for row in self.apart(other)}
        written = set(map(json_bytes, other)) if rows else set()
        return [row for text, row in rows.items() if text not in written]

    def differs_more(self, other: Version, most: int) -> bool:
        """Tell whether surely more rows than so many are not equal to any of the other's."""
        new = (row for row in self.apart(other) if self.key(row) not in other._canonical)
        return sum(1 for _ in islice(new, most + 1)) > most

    def has(self, row: Row, fill: Fill) -> bool:
        """Tell whether there is such a row, once both are filled."""
        alike = self._alike.get(self._keys_of(row)[2], ())
        return any(canonical_json(fill(one)) == canonical_json(fill(row)) for one in alike)

    @cached_property
    def identities(self) -> bytes:
        """The identities of the rows, in order."""
        return _identities(self)

    @cached_property
    def _canonical(self) -> frozenset[bytes]:
        return frozenset(map(self.key, self))

    @cached_property
    def _alike(self) -> dict[bytes, list[Row]]:
        """Rows that may be the same once they are filled, by what they have in common."""
        found: dict[bytes, list[Row]] = {}
        for row in self:
            found.setdefault(self._keys_of(row)[2], []).append(row)
        return found

    def key(self, row: Row) -> bytes:
        """Return the canonical JSON of one of the rows."""
        return self._keys_of(row)[1]

    def _keys_of(self, row: Row) -> tuple[Row, bytes, bytes]:
        known = self.keys.get(id(row))
        if known is None:
            bare = {name: value or None for name, value in row.items()}
            known = self.keys[id(row)] = row, canonical_json(row), canonical_json(bare)
        return known


def zero(value: Any) -> Any:
    """Return what stands for an absent value of the type of this one."""
    if isinstance(value, bool):
        return False
    return 0.0 if isinstance(value, (int, float)) else ""


def _identities(rows: Iterable[Row]) -> bytes:
    return array("Q", map(id, rows)).tobytes()


def _ends(table: Sequence[Row], other: Sequence[Row]) -> tuple[int, int]:
    """Return how many rows at the beginning, and of the others at the end, are one object."""
    shorter = min(len(table), len(other))
    start = next(compress(count(), map(is_not, table, other)), shorter)
    back = next(compress(count(), map(is_not, reversed(table), reversed(other))), shorter)
    return start, min(back, shorter - start)


class SharedRows:
    """Rows of one table in its versions, of which equal ones are one object.

    Args:
        begun: How the table begins; other chats may share it.
    """

    def __init__(self, begun: Version) -> None:
        self._begun = begun
        self._keys: Keys = ChainMap({}, begun.keys)
        self._spelled: dict[bytes, Plain] = {}
        self._versions: dict[bytes, Version] = {}
        """By the identities of their rows, which they keep."""

    def __deepcopy__(self, known: object) -> SharedRows:
        """Return the same: rows are known by their identity, and nobody is given them."""
        return self

    def rows(self, rows: Iterable[Plain], made: Callable[[Plain], Plain]) -> list[Plain]:
        """Return the rows that are known and are these to the letter, else what is made of these.

        1 is neither True nor 1.0, and maps of another order are others.
        """
        found = []
        begun, new = self._begun.spelled, self._spelled
        for row in rows:
            try:
                spelled = json_bytes(row)
            except TypeError:  # it has what is no JSON
                found.append(made(row))
                continue
            known = begun.get(spelled)
            if known is None or known != row:
                known = new.get(spelled)
            if known is None or known != row:
                known = new[spelled] = made(row)
            found.append(known)
        return found

    def version(self, rows: Sequence[Plain]) -> Version:
        """Return the version of these very rows: always the same object."""
        key = _identities(rows)
        if key == self._begun.identities:
            return self._begun
        if key not in self._versions:
            self._versions[key] = Version(rows, self._keys)
        return self._versions[key]


# -- How records tell of a table: whole, or by what changed since they told of it before.
#
# A table of at most `SMALL` rows stands whole, `[{row}, ...]`. A larger one stands once in a file
# beside the records, where there is a place for it: `{"beginning": NAME}` is the file
# `beginnings/NAME.json`, whose name is the digest of what it holds. From then on it is told by
# `{"pieces": [[0, 17], {row}, [18, 900]]}`: rows 0 to 16 of the table as it was told before, a new
# row, rows 18 to 899. No row of before stands in two pieces, so that no file is short and tells of
# a table without end.

SMALL = 20
"""Rows of a table that is always told whole."""
BEGINNINGS = "beginnings"
"""Folder of the large tables with which chats begin."""
_AT_HAND = 32
"""Files of tables that a process remembers."""


class TableWriter:
    """What the records of one chat, in their order, tell of its tables.

    Args:
        beside: Folder of the records; None: large tables stand whole in them at first.
        hidden: Hides keys of services in a text.
    """

    def __init__(
        self, beside: Path | None = None, hidden: Callable[[bytes], bytes] = lambda text: text
    ) -> None:
        self._beside = beside
        self._hidden = hidden
        self._told: dict[str, Sequence[Plain]] = {}

    def told(self, tables: Mapping[str, Sequence[Plain]]) -> dict[str, Any]:
        """Return tables as JSON; what is told of is remembered."""
        found: dict[str, Any] = {}
        for name, rows in tables.items():
            before = self._told.get(name)
            self._told[name] = rows
            if len(rows) <= SMALL or (before is None and self._beside is None):
                found[name] = rows
            elif before is None:
                found[name] = {"beginning": self._kept(Version.of(rows))}
            else:
                found[name] = {"pieces": pieces(before, rows)}
        return found

    def _kept(self, rows: Version) -> str:
        """Return the name of the file that holds the rows, and write it where it is not there."""
        assert self._beside is not None
        name = rows.kept.get(self._beside, "")
        if not name or not _place(self._beside, name).is_file():
            content = self._hidden(rows.written)
            name = rows.kept[self._beside] = _digest(content)
            if not _place(self._beside, name).is_file():
                with AtomicFile(_place(self._beside, name)) as file:
                    file.write(content)
        return name


class TableReader:
    """Tables as the records of one chat, in their order, tell of them.

    Args:
        beside: Folder of the records; None: it is not known, and large tables cannot be read.
    """

    def __init__(self, beside: Path | None = None) -> None:
        self._beside = beside
        self._tables: dict[str, Sequence[Plain]] = {}
        self._shared: dict[str, SharedRows] = {}

    def tables(self, told: Any) -> dict[str, Any]:
        """Return whole tables. Versions of one table share rows, and equal ones are one object.

        Raises:
            DataError: What is told is no table, or its beginning is not there.
        """
        if not isinstance(told, dict):
            raise DataError(f"expected a map of tables, got {shortened(told)}")
        found = {name: self._table(name, what) for name, what in told.items()}
        self._tables |= found
        return found

    def _table(self, name: str, told: Any) -> Sequence[Plain]:
        if isinstance(told, list) and _are_rows(told):
            return told
        if isinstance(told, dict) and told.keys() == {"beginning"}:
            return self._beginning(told["beginning"])
        if isinstance(told, dict) and told.keys() == {"pieces"}:
            before = self._tables.get(name, ())
            shared = self._shared.get(name)
            if shared is None:
                shared = self._shared[name] = SharedRows(Version.of(before))
            return shared.version(joined(before, told["pieces"], shared))
        raise DataError(f"expected a list of rows, a beginning or pieces, got {shortened(told)}")

    def _beginning(self, name: Any) -> Version:
        if not isinstance(name, str) or not name.isalnum():
            raise DataError(f"expected the name of a beginning, got {shortened(name)}")
        if self._beside is None:
            raise DataError(f"the beginning {name} of a table stands in another file")
        found = _read(_place(self._beside, name))
        if not found.is_written_as(found):  # somebody changed it who read another chat
            _read.cache_clear()
            found = _read(_place(self._beside, name))
        return found


def _place(folder: Path, name: str) -> Path:
    return folder / BEGINNINGS / f"{name}.json"


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


@lru_cache(maxsize=_AT_HAND)
def _read(path: Path) -> Version:
    """Return the table that a file holds; its name tells what it holds, so it is read once."""
    try:
        content = content_of(path)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read, which holds how a table begins ({error.strerror}); bring the "
            "folder back that stood beside the trajectories, or play the run again"
        ) from error
    if _digest(content) != path.stem:
        raise DataError(f"{path} was changed; bring it back, or play the run again")
    rows = json_value(content)
    if not _are_rows(rows):
        raise DataError(f"{path}: expected a list of rows; bring it back, or play the run again")
    found = Version(rows)
    found.written  # noqa: B018  # as it is before anybody has it
    return found


def _are_rows(rows: Any) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def pieces(before: Sequence[Plain], after: Sequence[Plain]) -> list[Any]:
    """Return the rows after as ranges of those before, `[start, end]`, and new rows.

    Each row of before is in one range at most, in linear time.
    """
    shorter = min(len(before), len(after))
    start = _same(before, after)
    end = min(_same(before[::-1], after[::-1]), shorter - start)
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    pairs = zip(left, right, strict=True) if len(left) == len(right) else ()
    stay = {at for at, (row, other) in enumerate(pairs) if row is other or is_same(row, other)}
    places: dict[bytes, deque[int]] = {}
    for at, row in enumerate(left):
        if at not in stay:
            places.setdefault(json_bytes(row), deque()).append(at)
    found: list[Any] = [[0, start]] if start else []
    for at, row in enumerate(right):
        known = deque([at]) if at in stay else places.get(json_bytes(row))
        if not known:
            found.append(row)
            continue
        place = start + known.popleft()
        if found and isinstance(found[-1], list) and found[-1][1] == place:
            found[-1][1] += 1
        else:
            found.append([place, place + 1])
    if end:
        found.append([len(before) - end, len(before)])
    return found


def _same(before: Sequence[Plain], after: Sequence[Plain]) -> int:
    """Return how many rows at the beginning are written alike."""
    shorter = min(len(before), len(after))
    apart = compress(count(), map(is_not, before, after))
    return next((at for at in apart if not is_same(before[at], after[at])), shorter)


def joined(before: Sequence[Plain], told: Any, shared: SharedRows | None = None) -> list[Plain]:
    """Return the rows that pieces tell of.

    Args:
        before: The table of which ranges are told.
        told: As `pieces` gives them; of a file, they may be anything.
        shared: Knows rows of the table that a new one may be equal to.

    Raises:
        DataError: They are no pieces of the table.
    """
    if not isinstance(told, list):
        raise DataError(f"expected pieces of a table, got {shortened(told)}")
    rows: list[Plain] = []
    kept = 0
    for piece in told:
        if isinstance(piece, dict):
            rows += [piece] if shared is None else shared.rows([piece], dict)
            continue
        is_range = isinstance(piece, list) and [*map(type, piece)] == [int, int]
        if not is_range or not 0 <= piece[0] <= piece[1] <= len(before):
            raise DataError(
                f"expected a row, or a range of the {len(before)} rows before, got "
                f"{shortened(piece)}"
            )
        kept += piece[1] - piece[0]
        if kept > len(before):
            raise DataError(f"pieces of a table of {len(before)} rows tell of more of them")
        rows.extend(before[piece[0] : piece[1]])
    return rows
