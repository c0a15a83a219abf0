"""The tests mirror the package: whoever changes a module finds its tests by its name."""

from collections import Counter
from pathlib import Path

import seal

TESTS = Path(__file__).parent
ROOT = Path(seal.__file__).parent
OF_ALL_PACKS = {
    "benchmarks/test_generated_bytes.py",
    "benchmarks/test_gold_agrees.py",
    "benchmarks/test_importers_hostile.py",
    "benchmarks/test_published_figures.py",
}
"""What no module is named by."""


def modules_of_tests() -> list[Path]:
    """Return the modules of tests, relative to their root."""
    return sorted(path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))


def modules(folder: Path) -> set[str]:
    """Return the names of a package's modules, and its own, which is its public face."""
    place = ROOT / folder
    if not place.is_dir():
        return set()
    found = {path.stem for path in place.iterdir() if path.suffix == ".py" or path.is_dir()}
    return {*found, place.name} - {"__init__", "__pycache__"}


def is_named_after(name: str, names: set[str]) -> bool:
    """Tell whether a module of tests has the name of a module, alone or before an aspect."""
    return any(f"{name}_".startswith(f"test_{module}_") for module in names)


def test_each_module_of_tests_is_named_after_a_module_of_its_folder() -> None:
    below = [
        path for path in modules_of_tests() if len(path.parts) > 1 and path.parts[0] != "fixtures"
    ]
    odd = [p.as_posix() for p in below if not is_named_after(p.stem, modules(p.parent))]
    assert len(below) > 300 and odd == sorted(OF_ALL_PACKS)


def test_a_name_is_that_of_a_module_whole() -> None:
    found = modules(Path("core"))
    assert {"records", "store"} < found
    assert is_named_after("test_records", found) and is_named_after("test_store_shared", found)
    assert not is_named_after("test_recordsx", found) and not is_named_after("test_rows", found)


def test_no_two_modules_of_tests_have_one_name() -> None:
    """Python finds them by their bare names."""
    counts = Counter(path.name for path in TESTS.rglob("*.py") if "fixtures" not in path.parts)
    assert [name for name, count in counts.items() if count > 1] == ["conftest.py"]
