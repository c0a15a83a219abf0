"""The engine imports no benchmark: it finds them by name."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import seal
from seal.pools.importer import REGISTRY

ROOT = Path(seal.__file__).parent
PACKS = "seal.benchmarks"
OTHERS = {"sample", "mcp"}
"""Names that stand for something else too: the default benchmark, and a protocol."""


def engine() -> Iterator[Path]:
    """Yield the modules that are no benchmark's."""
    for path in sorted(ROOT.rglob("*.py")):
        if path.relative_to(ROOT).parts[0] != "benchmarks":
            yield path


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the names of all that a module imports, in functions and for type checkers too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    for node in constants:
        if isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def test_no_module_of_the_engine_imports_a_benchmark_or_names_its_code() -> None:
    found = {}
    for path in engine():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [name for name in imported(tree) if f"{name}.".startswith(f"{PACKS}.")]
        names += [text for text in texts(tree) if f"{PACKS}." in text]
        if names:
            found[str(path.relative_to(ROOT))] = names
    assert found == {}


def test_no_module_of_the_engine_holds_the_name_of_a_benchmark() -> None:
    names = {*REGISTRY.names(), *(path.name for path in (ROOT / "benchmarks").iterdir())} - OTHERS
    found: dict[str, set[str]] = {}
    for path in engine():
        for text in texts(ast.parse(path.read_text(encoding="utf-8"))):
            if text in names:
                found.setdefault(text, set()).add(str(path.relative_to(ROOT)))
    assert found == {}


def defined(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module gives: of functions, classes, arguments and variables."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def packs_in(words: Iterable[str]) -> list[str]:
    """Return the words that hold the name of a pack, however it is written."""
    packs = {path.name for path in (ROOT / "benchmarks").iterdir() if path.is_dir()} - OTHERS
    held = {word: word.lower().replace("_", "").replace(" ", "") for word in words}
    return sorted(word for word, bare in held.items() if any(pack in bare for pack in packs))


def test_no_name_in_the_engine_holds_that_of_a_benchmark() -> None:
    found = {}
    for path in engine():
        names = packs_in({path.stem, *defined(ast.parse(path.read_text(encoding="utf-8")))})
        if names:
            found[str(path.relative_to(ROOT))] = names
    assert found == {}


def test_no_title_in_a_report_holds_the_name_of_a_benchmark() -> None:
    found = {}
    for path in sorted((ROOT / "report").rglob("*.*")):
        if path.suffix in (".py", ".html", ".css", ".js"):
            text = path.read_text(encoding="utf-8")
            held = packs_in(texts(ast.parse(text)) if path.suffix == ".py" else text.splitlines())
            if held:
                found[str(path.relative_to(ROOT))] = held
    assert found == {}


def test_a_name_of_a_benchmark_is_seen_in_another_name() -> None:
    names = defined(ast.parse("MMTB_RULES = 1\ndef mean(toolscan_score): ..."))
    assert packs_in(names) == ["MMTB_RULES", "toolscan_score"]
    assert packs_in(["by category (ToolSandbox, Table 5)", "by category"]) == [
        "by category (ToolSandbox, Table 5)"
    ]
