"""The engine imports no benchmark: it finds them by name."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import seal
from seal.pools.importer import REGISTRY

ROOT = Path(seal.__file__).parent
PACKS = "seal.benchmarks"
OTHERS = {"sample", "mcp", "phone"}
"""Names that stand for something else, too: the default benchmark, a protocol, a kind of value."""


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


class Module(NamedTuple):
    """What a module of the engine names."""

    path: Path
    imported: frozenset[str]
    texts: frozenset[str]
    defined: frozenset[str]

    @property
    def place(self) -> str:
        """Its path below the package."""
        return str(self.path.relative_to(ROOT))


@cache
def modules() -> list[Module]:
    """Return the modules of the engine; each is parsed once."""
    return [
        Module(path, *(frozenset(of(tree)) for of in (imported, texts, defined)))
        for path in engine()
        for tree in [ast.parse(path.read_text(encoding="utf-8"))]
    ]


def test_no_module_of_the_engine_imports_a_benchmark_or_names_its_code() -> None:
    found = {}
    for module in modules():
        names = [name for name in module.imported if f"{name}.".startswith(f"{PACKS}.")]
        names += [text for text in module.texts if f"{PACKS}." in text]
        if names:
            found[module.place] = names
    assert found == {}


def test_no_module_of_the_engine_holds_the_name_of_a_benchmark() -> None:
    names = {*REGISTRY.names(), *(path.name for path in (ROOT / "benchmarks").iterdir())} - OTHERS
    found: dict[str, set[str]] = {}
    for module in modules():
        for text in module.texts & names:
            found.setdefault(text, set()).add(module.place)
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


@cache
def packs_of_ours() -> frozenset[str]:
    """Return the names of the folders of packs that stand for nothing else."""
    folders = (path for path in (ROOT / "benchmarks").iterdir() if path.is_dir())
    return frozenset(path.name for path in folders) - OTHERS


def packs_in(words: Iterable[str]) -> list[str]:
    """Return the words that hold the name of a pack, however it is written."""
    packs = packs_of_ours()
    held = {word: word.lower().replace("_", "").replace(" ", "") for word in words}
    return sorted(word for word, bare in held.items() if any(pack in bare for pack in packs))


def test_no_name_in_the_engine_holds_that_of_a_benchmark() -> None:
    found = {}
    for module in modules():
        names = packs_in({module.path.stem, *module.defined})
        if names:
            found[module.place] = names
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
