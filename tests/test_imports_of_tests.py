"""Tests import what they need from the packages, so that a module can move inside its package."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from seal.lazy import given_names

import seal.evaluation  # noqa: F401

HERE = Path(__file__).parent


def package_of(module: str) -> str:
    """Return the package that answers for a module: a part of the engine, or a pack."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1] == "benchmarks" else 2])


def deep_names(text: str) -> Iterator[tuple[str, str]]:
    """Return the names that a text imports from a module though its package gives them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seal."):
            module = str(node.module)
            yield from ((module, one.name) for one in node.names if is_given(module, one.name))


def is_given(module: str, name: str) -> bool:
    """Tell whether the package above a module gives the same thing by the same name."""
    package = package_of(module)
    if module == package or name.startswith("_") or given_names(package).get(name) != module:
        return False
    return getattr(import_module(package), name) is getattr(import_module(module), name)


def test_no_test_imports_from_a_module_what_its_package_gives() -> None:
    found = [
        f"{path.relative_to(HERE)}: from {module} import {name}"
        for path in sorted(HERE.rglob("*.py"))
        if "fixtures" not in path.parts  # what users write imports as the docs say
        for module, name in deep_names(path.read_text())
    ]
    assert not found, "import from the package:\n" + "\n".join(found)


def test_a_deep_import_is_seen() -> None:
    text = "from seal.evaluation.statistics import bootstrap_interval as b, _x"
    assert list(deep_names(text)) == [("seal.evaluation.statistics", "bootstrap_interval")]


def test_a_package_gives_no_name_that_is_a_module_s_or_several_modules_have() -> None:
    assert "run" not in given_names("seal.runs"), "seal.runs.play is a module"
    assert "section" not in given_names("seal.report"), "each section of a report has one"
