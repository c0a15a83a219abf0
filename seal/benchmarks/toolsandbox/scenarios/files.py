"""Files of authored scenarios: read, and checked for form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from seal.benchmarks.toolsandbox.upstream_scenarios import CATEGORIES as TAGS
from seal.benchmarks.toolsandbox.upstream_scenarios import refuse_no_numbers
from seal.core import JSON, DataError, Tables, UnknownNameError, first_fault, shortened
from seal.pools.reading.upstream_files import expect, json_file, refuse_deep, utf8_text

if TYPE_CHECKING:
    from pydantic import TypeAdapter

CATEGORIES = tuple(TAGS.values())
"""What a scenario may be an example of; a task's tag of that name is true."""
_KEYS = ("worlds", "scenarios")
_CONFIG = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class BaseWorld:
    """How a world begins, before a scenario changes anything."""

    kind: str
    """Name of the world (`seal.environments`), or its dotted path where the user allows that
    module."""
    tables: Tables
    clock: dict[str, JSON] = field(default_factory=dict)
    """As `metadata.clock` of a task."""
    demonstration: list[dict[str, str]] = field(default_factory=list)
    """Example dialogues for personas that have none of their own (`seal.agents.personas`)."""
    place: str = ""
    """File and name, for messages."""
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a sequence: exactly one of `do`, `say` and `hear`."""

    do: dict[str, dict[str, JSON]] | list[dict[str, dict[str, JSON]]] | None = None
    say: str | None = None
    hear: str | None = None
    keep: str = ""
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Wrong:
    """A sequence that must not score 1."""

    why: str
    steps: list[Move]
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Take:
    """A value of an earlier call."""

    of: str
    """Name of the node at the answer to that call."""
    value: str
    """Name of an extractor (`seal.core.conditions.EXTRACTORS`)."""
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Node:
    """A milestone or minefield."""

    name: str = ""
    after: list[str] | None = None
    guards: list[str] | None = None
    calls: dict[str, dict[str, JSON]] | list[dict[str, dict[str, JSON]]] | None = None
    within: dict[str, JSON] = field(default_factory=dict)
    take: Take | None = None
    attempts: str | None = None
    unconfirmed: str | list[str] | None = None
    happens: str | None = None
    tells: list[str] = field(default_factory=list)
    tells_any: list[str] = field(default_factory=list)
    refuses: list[str] | None = None
    untrue: bool | None = None
    says: str | None = None
    asks: list[str] | None = None
    state: dict[str, dict[str, JSON]] = field(default_factory=dict)
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Endings:
    """What may be said in place of what gold tells last."""

    right: list[str]
    """Texts with which the scenario scores 1."""
    wrong: list[str]
    """Texts with which it must not."""
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario as it was written."""

    id: str
    categories: list[str]
    world: str
    tools: list[str]
    persona: dict[str, JSON]
    request: str
    gold: list[Move]
    wrong: list[Wrong]
    milestones: list[Node] = field(default_factory=list)
    minefields: list[Node] = field(default_factory=list)
    changes: dict[str, dict[str, JSON]] = field(default_factory=dict)
    """Written as `with`."""
    clock: dict[str, JSON] = field(default_factory=dict)
    withheld: list[str] = field(default_factory=list)
    told: Endings | None = None
    place: str = ""
    """File and id, for messages."""
    __pydantic_config__ = _CONFIG


Form = TypeVar("Form", BaseWorld, Scenario)


@dataclass(frozen=True, slots=True)
class Authored:
    """What a folder holds."""

    worlds: Mapping[str, BaseWorld]
    scenarios: tuple[Scenario, ...]


def read_authored(source: Path) -> Authored:
    """Return the worlds and scenarios of a file, or of every `*.json` in a folder.

    Raises:
        DataError: A file is no JSON or not of the form, an id stands twice, or there is no
            scenario. The text names file, scenario, field and repair.
    """
    worlds: dict[str, BaseWorld] = {}
    scenarios: dict[str, Scenario] = {}
    for path in sorted(source.glob("*.json")) if source.is_dir() else [source]:
        content = _content(path)
        for name, world in _entries(content, "worlds", path):
            if name in worlds:
                raise DataError(f"{path}: the world {name!r} stands twice; rename one")
            worlds[name] = _placed(world, BaseWorld, f"{path}, world {name!r}")
        for scenario in _scenarios(content, path):
            if scenario.id in scenarios:
                other = scenarios[scenario.id].place
                raise DataError(f"{scenario.place}: stands in {other} already; rename one")
            scenarios[scenario.id] = scenario
    if not scenarios:
        raise DataError(f"{source} holds no scenarios; expected JSON files with {_EXPECTED}")
    return Authored(worlds, tuple(scenarios.values()))


_EXPECTED = '{"worlds": {...}, "scenarios": [...]}'


def _content(path: Path) -> dict[str, Any]:
    content = json_file(path)
    if not isinstance(content, dict) or not content.keys() <= set(_KEYS) or not content:
        raise DataError(f"{path}: expected {_EXPECTED}, got {shortened(content)}")
    refuse_deep(content)
    _refuse_unheld(path)
    return content


def _refuse_unheld(path: Path) -> None:
    """Refuse what would be lost: a key that stands twice, and numbers that are infinite or none.

    Raises:
        DataError: Names the file, the way to the object and the key, or to the number.
    """

    def marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            twice.append((made, key))
        return made

    twice: list[tuple[dict[str, Any], str]] = []
    content = json.loads(utf8_text(path.read_bytes(), str(path)), object_pairs_hook=marked)
    if twice:
        holder, key = twice[0]
        way = ".".join(_way(content, holder) or [])
        place = f"{path}, {way}" if way else str(path)
        raise DataError(f"{place}: the key {key!r} stands twice; remove or rename one")
    refuse_no_numbers(content, f"{path}, ")


def _way(value: Any, holder: Any) -> list[str] | None:
    """Return the names and positions that lead to an object; None: it is not within."""
    if value is holder:
        return []
    if not isinstance(value, (dict, list)):
        return None
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        way = _way(item, holder)
        if way is not None:
            return [str(key), *way]
    return None


def _entries(content: Mapping[str, Any], key: str, path: Path) -> Iterator[tuple[str, Any]]:
    entries = expect(content.get(key, {}), dict, f"{path}: {key}")
    yield from entries.items()


def _scenarios(content: Mapping[str, Any], path: Path) -> Iterator[Scenario]:
    records = expect(content.get("scenarios", []), list, f"{path}: scenarios")
    for number, record in enumerate(records):
        named = isinstance(record, dict) and isinstance(record.get("id"), str)
        place = f"{path}, scenario {record['id']!r}" if named else f"{path}, scenarios.{number}"
        if isinstance(record, dict):
            record = {"changes" if name == "with" else name: v for name, v in record.items()}
        scenario = _placed(record, Scenario, place)
        fault = next(_faults(scenario), None)
        if fault is not None:
            raise DataError(f"{scenario.place}: {fault}")
        yield _without_untruths(scenario)


def asks_words(node: Node) -> bool:
    """Tell whether a node asks for what is told to the user."""
    return bool(node.tells or node.tells_any) or node.refuses is not None


def _without_untruths(scenario: Scenario) -> Scenario:
    """Return a scenario that forbids untruths where it asks what is told."""
    forbids = any(node.untrue for node in scenario.minefields)
    if forbids or not any(map(asks_words, scenario.milestones)):
        return scenario
    return replace(scenario, minefields=[*scenario.minefields, Node("untrue", untrue=True)])


def _placed(record: Any, form: type[Form], place: str) -> Form:
    from pydantic import ValidationError

    if isinstance(record, dict):
        record = {**record, "place": place}
    try:
        formed: Form = _adapter(form.__name__).validate_python(record)
    except ValidationError as error:
        raise DataError(f"{place}: {first_fault(error)}") from error
    return formed


@cache
def _adapter(form: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter({"BaseWorld": BaseWorld, "Scenario": Scenario}[form])


def _faults(scenario: Scenario) -> Iterator[str]:
    """Yield what the form alone does not say to be wrong; each text begins with the field."""
    for category in scenario.categories:
        if category not in CATEGORIES:
            yield f"categories: {UnknownNameError('category', category, CATEGORIES)}"
    if not scenario.categories:
        yield f"categories: expected at least one of {', '.join(CATEGORIES)}"
    for name in ("id", "request"):
        if not getattr(scenario, name).strip():
            yield f"{name}: expected a text, got an empty one"
    if not scenario.id.isprintable():
        yield (
            f"id: {scenario.id!r} holds a line break or another character that is not printed; "
            "rename it"
        )
    if not scenario.milestones and not scenario.minefields:
        yield "milestones: expected milestones or minefields, by which it is scored, got none"
    if not scenario.wrong:
        yield "wrong: expected at least one wrong sequence, got none"
    sequences = {"gold": scenario.gold}
    for number, wrong in enumerate(scenario.wrong):
        sequences[f"wrong.{number}.steps"] = wrong.steps
    for name, moves in sequences.items():
        if not any(move.say for move in moves):
            yield f"{name}: the agent never speaks to the user; end it with {{'say': ...}}"
        for number, move in enumerate(moves):
            kinds = [kind for kind in ("do", "say", "hear") if getattr(move, kind) is not None]
            if len(kinds) != 1:
                said = " and ".join(kinds) or "none"
                yield f"{name}.{number}: expected one of do, say and hear, got {said}"
