"""What SEAL depends on: each has a licence that is listed, and a hash in requirements.lock."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

import pytest
from looped import every_case

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "DEPENDENCIES.md").read_text(encoding="utf-8")
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
LOCKED = re.findall(r"^([\w.-]+)==(\S+) --hash=sha256:[0-9a-f]{64}$", LOCK, re.MULTILINE)
LISTED = {
    name: licence
    for licence, names in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)[2:]
    for name in names.split(", ")
}
EXPLAINED = set(re.findall(r"^- `(\S+)`, ", PAGE.partition("\n## Wi")[0], re.MULTILINE))
WORDS = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Python Software Foundation License": "PSF",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
PERMISSIVE = re.compile(
    r"MIT|MIT-0|MIT-CMU|BSD|BSD-\d-Clause|0BSD|Apache-2\.0|PSF|PSF-2\.0|ISC|Zlib|CC0-1\.0|CNRI-Python"
)


def licence_of(name: str) -> str:
    """Return the licence that an installed distribution states."""
    told = metadata(name)
    classes = [
        label.rpartition(" :: ")[2]
        for label in told.get_all("Classifier") or []
        if label.startswith("License :: OSI Approved :: ")
    ]
    named = told.get("License-Expression") or " OR ".join(WORDS.get(c, c) for c in classes)
    first = (told.get("License") or "").strip().partition("\n")[0]
    return named or WORDS.get(first, first)


def test_each_locked_version_has_a_hash_and_a_licence() -> None:
    lines = [line for line in LOCK.splitlines() if line and not line.startswith("#")]
    assert len(LOCKED) == len(lines)
    assert {name for name, _ in LOCKED} == LISTED.keys()


def asks_for_more(licence: str) -> bool:
    """Tell whether a licence asks for more than a notice."""
    parts = (part.strip() for part in re.split(r" (?:AND|OR) |[()]", licence))
    return not all(PERMISSIVE.fullmatch(part) for part in parts if part)


def test_what_seal_needs_is_locked() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[^\w-]", each)[0].lower() for each in needed}
    assert names <= {name.lower() for name in LISTED}


@every_case(("name", "locked"), LOCKED)
def test_a_dependency_states_the_licence_that_is_listed(name: str, locked: str) -> None:
    try:
        stated, is_locked = licence_of(name), version(name) == locked
    except PackageNotFoundError:
        pytest.skip("it is of an extra that is not installed")
    assert stated == LISTED[name] or not is_locked
    assert name in EXPLAINED or not asks_for_more(stated)


def extras_named_in(text: str) -> set[str]:
    """Return the extras that a file's commands of pip and its errors name."""
    listed = re.findall(r"(?:seal-api-llms|[\"' ]\.)\[([a-z, ]+)\]", text)
    raised = re.findall(r"(?:needing|MissingExtraError)\([\w\"]+, \"([a-z]+)\"\)", text)
    return {name.strip() for names in (*listed, *raised) for name in names.split(",")}


def test_every_extra_that_is_named_can_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    kinds = ("*.md", "docs/*.md", "notebooks/*", ".ci/*", "seal/**/*.py", "perf/**/*.py")
    files = [path for kind in kinds for path in ROOT.glob(kind) if path.is_file()]
    named = {path: extras_named_in(path.read_text(encoding="utf-8")) for path in files}
    known = project["optional-dependencies"].keys()
    unknown = {path.name: names - known for path, names in named.items() if names - known}

    assert set().union(*named.values()) >= {"dialogue", "embeddings", "test"}
    assert unknown == {}


def test_one_module_alone_imports_autogen() -> None:
    imports = re.compile(r"^\s*(?:import|from) autogen\b", re.MULTILINE)
    modules = (ROOT / "seal").rglob("*.py")
    found = [path for path in modules if imports.search(path.read_text(encoding="utf-8"))]
    assert [path.relative_to(ROOT).as_posix() for path in found] == ["seal/agents/autogen.py"]


def test_a_licence_that_asks_for_more_than_a_notice_is_explained() -> None:
    assert {name for name, licence in LISTED.items() if asks_for_more(licence)} == EXPLAINED
