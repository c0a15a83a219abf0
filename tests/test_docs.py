"""Every block of the README and of the pages under docs/ runs, and what a page shows comes.

The ```python blocks of a page are one program. A title makes a block a file: those of one title are
its parts. ```text blocks are what the program prints, ```console blocks what commands print; a line
`...` there stands for any lines. A block of no language needs files of others, or a server: some
pages have theirs run where SEAL_DATA holds the files, the others show what came by hand.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from forked import run
from looped import every_case
from query_writer import written
from servers import Answer, ModelServer, Received, calls, text

from seal.core.files import cache_folder
from seal.core.model_files import fetch
from seal.pools.catalogue import source_folder

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]
PACKAGES = {
    "mcp": ["mcp"],
    "own-data": ["pandas"],
    "benchmarks": ["pandas"],
    "evaluate-my-agent": ["mcp"],
    "toolsandbox": ["pint"],
    "dialogtool": ["sacrebleu"],
}
"""Page to what it needs besides SEAL; without it the page is skipped."""
NEEDED = re.compile(r"^`pip install (.*)`$", re.MULTILINE)
UPSTREAM = {
    "dialogtool": ("dialogtool",),
    "toolbench": ("toolbench", "stabletoolbench"),
    "toolsandbox": ("toolsandbox",),
    "retrievers": ("stabletoolbench",),
}
"""Page to the benchmarks whose files its blocks of no language need; each line there is printed."""
KEPT = ("README", "tutorial")
"""Pages that replay the answers which the project keeps in results/."""
WIDE = {"compare-and-ablate": "120", "dialogtool": "140"}
"""Page to the columns of the terminal in which its tables are not broken."""
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
PROGRESS = re.compile(r"^seal: [^:]+: \d+ of \d+(, \d+ (s|min) left)?\n", re.MULTILINE)
"""What a run tells where it takes long; no page shows it."""
WORD = re.compile(r"\S*\w\S*")
PIP = ["-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "-q"]


def clerk(tool: str) -> Any:
    """Return the script of a model that calls a tool for orders 7 and 8, and then answers."""

    def answer(request: Received) -> Answer:
        if any(message["role"] == "tool" for message in request.body["messages"]):
            return text("Order 7 ships on Monday, and order 8 on Friday.")
        return calls((tool, {"order_id": "7"}), (tool, {"order_id": "8"}))

    return answer


def writer(request: Received) -> Answer:
    """Write queries, as the prompts of their generation ask for them."""
    return text(written(*(message["content"] for message in request.body["messages"])))


SERVED = {"evaluate-my-agent": clerk("get_order"), "generate": writer}
"""Page to the model that stands behind the server which its `openai/...` means."""


def is_installed(section: str) -> bool:
    """Tell whether what a section tells to install is there."""
    words = " ".join(NEEDED.findall(section)).replace('"', "").split()
    try:
        return all(version(word.partition("[")[0]) for word in words)
    except PackageNotFoundError:
        return False


class Reader:
    """Somebody who does what a page says, in an empty folder.

    Args:
        page: The file.
        folder: An empty one.
        url: Of the model's server that `openai/...` means; empty: OpenAI's own.
    """

    def __init__(self, page: Path, folder: Path, url: str = "") -> None:
        self.folder = folder
        ours = ("SEAL_", "OPENAI_", "GOOGLE", "NO_COLOR")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        paths = os.pathsep.join([str(folder), str(folder / "installed")])
        more = {"SEAL_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": paths}
        more["GENERAL_RETRIEVER"] = "yes"  # and no quicker one
        (folder / "cache").mkdir()
        (folder / "cache" / "models").symlink_to(cache_folder() / "models")
        more["COLUMNS"] = WIDE.get(page.stem, "100")
        more["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
        server = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"} if url else {}
        self.environment = kept | more | server
        sections = re.split(r"^(?=## )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        self.blocks = BLOCK.findall("".join(filter(is_installed, sections)))
        if page.stem in KEPT:
            shutil.copytree(ROOT / "results" / "smollm2", folder / "results" / "smollm2")

    def of(self, kind: str) -> str:
        """Return the blocks of a kind that have no title, joined."""
        return "".join(body for what, title, body in self.blocks if what == kind and not title)

    def write_files(self) -> None:
        for _, title, body in self.blocks:
            if title:
                file = self.folder / title
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("a", encoding="utf-8") as out:
                    out.write(body)

    def runs_program(self) -> "subprocess.CompletedProcess[str] | None":
        """Write the files of the page and run its program; None where it has none."""
        self.write_files()
        if not (program := self.of("python")):
            return None
        file = self.folder / "page.py"
        file.write_text(program, encoding="utf-8")
        return run([file], **self.place())

    def commands(self) -> list[tuple[str, str]]:
        """Return the commands of the page, each with what it is said to print."""
        one_line = re.sub(r"\\\n *", "", self.of("console"))
        return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", one_line, re.M)

    def does(self, command: str) -> "subprocess.CompletedProcess[str]":
        words = shlex.split(command)
        if words[:2] == ["pip", "install"]:
            pip = [sys.executable, *PIP, "--target", "installed", *words[2:]]
            return subprocess.run(pip, cwd=self.folder, capture_output=True, text=True)
        return run(words[1:] if words[0] == "python" else words, **self.place())

    def place(self) -> dict[str, object]:
        return {"cwd": self.folder, "env": self.environment}

    def is_shown(self, shown: str, output: str) -> bool:
        said = PROGRESS.sub("", output.replace(f"{self.folder}/", ""))
        lines = [re.sub(r"\d+(\.\d+)? s\b", "N s", line.rstrip()) for line in said.splitlines()]
        wanted = [re.sub(r"\d+(\.\d+)? s\b", "N s", line) for line in shown.splitlines()]
        parts = (r"(.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in wanted)
        return bool(re.fullmatch("".join(parts), "".join(line + "\n" for line in lines)))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_happens(page: Path, tmp_path: Path) -> None:
    for package in PACKAGES.get(page.stem, ()):
        pytest.importorskip(package)
    fetch("all-MiniLM-L6-v2")  # else each page would, and say so
    with ModelServer(SERVED.get(page.stem, [])) as server:
        check(Reader(page, tmp_path, server.url if page.stem in SERVED else ""))


def check(reader: Reader) -> None:
    """Do what a page says, and compare what comes with what it shows."""
    program = reader.runs_program()
    if program is not None:
        assert program.returncode == 0, program.stderr
        assert reader.is_shown(reader.of("text"), program.stdout), program.stdout
    for command, shown in reader.commands():
        done = reader.does(command)
        refused = shown.startswith("seal: ") and not shown.startswith("seal: run: ")
        assert (done.returncode == 2) is refused, f"{command}: {done.stderr}"
        said = done.stdout + done.stderr
        assert not shown.strip() or reader.is_shown(shown, said), f"{command}\n{said}"


def test_every_page_of_the_docs_is_linked_from_their_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in DOCS if f"({page.name})" not in index] == ["index.md"]


def test_the_docs_are_short() -> None:
    """What is no word, such as the lines of a table, does not count; nor does the reference."""
    words = [len(WORD.findall(page.read_text(encoding="utf-8"))) for page in DOCS]
    assert len(DOCS) <= 30 and sum(words) <= 25_000


def test_the_reference_defines_every_score() -> None:
    pytest.importorskip("griffe")
    pytest.importorskip("mkdocs")
    spec = spec_from_file_location("site_of_docs", ROOT / "docs" / "site.py")
    assert spec is not None and spec.loader is not None
    site = module_from_spec(spec)
    spec.loader.exec_module(site)
    told = re.findall(r"^## (\S+)\n\nOf the family .*\n\n(.*)\n", site.metrics(), re.MULTILINE)
    assert len(told) > 60 and [name for name, text in told if not text] == []
    assert "calls_balanced" in dict(told)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_extension_is_shown_in_under_15_lines(page: Path, tmp_path: Path) -> None:
    for kind in re.findall(r"^class .*?(?=^\S)", Reader(page, tmp_path).of("python"), re.S | re.M):
        assert len(kind.strip().splitlines()) < 15


@pytest.mark.slow
def test_the_figures_of_what_roles_are_worth_are_those_of_the_named_command(tmp_path: Path) -> None:
    page = ROOT / "docs" / "compare-and-ablate.md"
    text = " ".join(page.read_text(encoding="utf-8").split())
    (command,) = re.findall(r"`seal (ablate roles [^`]+)`", text)
    (told,) = re.findall(r"the planner caused .*? and caused none", text)
    caused, idle, cost, low, high, *verified = map(float, re.findall(r"-?\d+(?:\.\d+)?", told))

    words = [sys.executable, "-m", "seal", *shlex.split(command), "--out", str(tmp_path / "roles")]
    environment = {**os.environ, "SEAL_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run(words, check=True, capture_output=True, env=environment, cwd=tmp_path)

    found = json.loads((tmp_path / "roles" / "comparison.json").read_bytes())
    did = {(run, one["role"]): one for run, roles in found["roles"].items() for one in roles}
    planner, verifier = did["planner", "planner"], did["verifier", "verifier"]
    assert [planner["caused"], planner["passed"]] == [caused, idle]
    assert [verifier[name] for name in ("caught", "missed", "passed", "caused")] == [*verified, 0]
    compared = {(one["run"], one["metric"]): one for one in found["comparisons"]}
    recall = compared["planner", "call_recall"]
    told_of = [-round(recall[name], 3) for name in ("difference", "high", "low")]
    assert told_of == [cost, low, high]


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("name", UPSTREAM)
def test_what_a_page_shows_of_upstream_files_is_printed(name: str, tmp_path: Path) -> None:
    if not all(map(source_folder, UPSTREAM[name])):
        pytest.skip(f"SEAL_DATA lacks files of {UPSTREAM[name]}")
    fenced = FENCED.findall((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    plain = "".join(body for kind, body in fenced if not kind)
    environment = {**os.environ, "COLUMNS": "130"}
    for command, shown in re.findall(r"^\$ (seal .*)\n((?:(?!\$ ).*\n)*)", plain, re.MULTILINE):
        words = [sys.executable, "-m", *shlex.split(os.path.expandvars(command))]
        done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        said = [" ".join(line.split()) for line in done.stdout.splitlines()]
        lines = [re.escape(" ".join(line.split())) for line in shown.splitlines() if line]
        wanted = [line.replace(r"\.\.\.", ".*") for line in lines]
        gone = [line for line in wanted if not any(re.fullmatch(line, told) for told in said)]
        assert gone == [], f"{command}\n{done.stdout}"


def sentences(page: Path) -> list[str]:
    """Return the sentences of a page, without blocks, tables and titles; code is one word."""
    text = re.sub(
        r"^```.*?^```$|^[|#].*?$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M
    )
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", text))
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )|(?<=[.!?])\s+", text)
    return [" ".join(part.split()) for part in parts if len(WORD.findall(part)) > 2]


@every_case("page", [*PAGES, ROOT / "ARCHITECTURE.md"], ids=lambda page: page.stem)
def test_the_sentences_of_a_page_are_short(page: Path) -> None:
    words = [len(WORD.findall(sentence)) for sentence in sentences(page)]
    assert sum(words) <= 18 * len(words)
    assert [s for s, count in zip(sentences(page), words, strict=True) if count > 25] == []


def test_the_tests_that_contributors_are_told_to_run_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"tests/[\w/.]+", text)
    assert len(named) > 9 and [path for path in named if not (ROOT / path).exists()] == []


def test_the_shared_benchmark_of_the_docs_is_the_one_that_is_tested(tmp_path: Path) -> None:
    Reader(ROOT / "docs" / "share-a-benchmark.md", tmp_path).write_files()
    for file in filter(Path.is_file, tmp_path.rglob("*")):
        (tested,) = (ROOT / "tests" / "fixtures" / "ticket_office").rglob(file.name)
        said, wanted = (place.read_text().split("\n") for place in (file, tested))
        assert [line for line in said if line] == [line for line in wanted if line]


def test_the_map_names_modules_that_exist() -> None:
    """A path counts where it begins at the root, in the package, or in one of its folders."""
    modules = {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for top in ("seal", "tests", "perf", "docs")
        for path in (ROOT / top).rglob("*")
        if "__pycache__" not in path.parts
    }
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+)/?(?:\.[A-Za-z_]+)?`|`([a-z_]+)\.py`", text)
    names = {path or module for path, module in named}
    gone = [name for name in names if not any(f"/{m}".endswith(f"/{name}") for m in modules)]
    assert not sorted(gone)


def test_the_map_lists_the_chapters_of_the_engine() -> None:
    """A row has a folder and its chapters; what stands in brackets explains the one before it."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", text, re.MULTILINE)
    told = {
        f"{folder}/{name}"
        for folder, cell in rows
        for name in re.split(r"[,;] ", re.sub(r" \([^)]*\)", "", cell))
    }
    package = ROOT / "seal"
    there = {
        path.relative_to(package).with_suffix("").as_posix()
        for path in package.glob("*/**/*.py")
        if path.name != "__init__.py" and package / "benchmarks" not in path.parents
    }
    assert len(rows) > 9 and sorted(told ^ there) == []


def test_the_map_names_what_its_files_have() -> None:
    """What a row tells of its file, and each `NAME` of a file, are words of that file."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_]+/[a-z_]+\.py)` \| (.*) \|$", text, re.MULTILINE)
    named = re.findall(r"((?:`[A-Z_]{4,}`(?:, )?)+) of `([a-z_]+/[a-z_]+\.py)`", text)
    pairs = [(file, name) for file, cell in rows for name in re.findall(r"`([\w.]+)`", cell)]
    pairs += [(file, name) for names, file in named for name in re.findall(r"\w+", names)]
    gone = [
        (file, name)
        for file, name in pairs
        if not set(name.split(".")) <= set(re.findall(r"\w+", (ROOT / "seal" / file).read_text()))
    ]
    assert len(rows) > 9 and len(named) > 9 and gone == []
