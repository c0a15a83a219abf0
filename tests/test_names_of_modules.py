"""Each module of the engine has a name of its own, which says what the module holds."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import seal

ROOT = Path(seal.__file__).parent
NOUNS = {"reading", "scoring", "scrambling", "spending", "testing", "ranking"}
"""Words in -ing that are nouns of the field."""


def modules() -> Iterator[Path]:
    """Yield the modules and packages of the engine, relative to its root."""
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT)
        place = place.parent if place.name == "__init__.py" else place.with_suffix("")
        if place.parts and place.parts[0] != "benchmarks":
            yield place


def is_named_after_another(place: Path) -> bool:
    """Tell whether a module is a verb's, or the public face of a part: it has the part's name."""
    return place.parts[:2] == ("cli", "verbs") or place.parent == Path("api")


def test_no_two_modules_of_the_engine_have_one_name() -> None:
    found = defaultdict(list)
    for place in modules():
        if not is_named_after_another(place):
            found[place.name].append(str(place))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_module_is_named_by_a_participle() -> None:
    last = {str(place): place.name.rpartition("_")[2] for place in modules()}
    odd = [place for place, word in last.items() if word.endswith(("ed", "ing"))]
    assert [place for place in odd if last[place] not in NOUNS] == []
