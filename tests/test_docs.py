"""Every block of the pages under docs/ runs, and what a page shows is what comes.

The ```python blocks of a page are one program. A title makes a block a file: those of one title are
its parts. ```text blocks are what the program prints, ```console blocks what commands print; a line
`...` there stands for any lines.
"""

import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from forked import run
from servers import Answer, ModelServer, Received, calls, text

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
PACKAGES = {
    "mcp": ["mcp"],
    "bridge": ["mcp"],
    "own-data": ["pandas"],
    "look-ups": ["pandas"],
    "evaluate-my-agent": ["mcp"],
}
"""Page to what it needs besides SEAL; without it the page is skipped."""
NEEDED = re.compile(r"^`pip install (.*)`$", re.MULTILINE)
SLOW = ("mcp", "evaluate-my-agent")
"""Pages that start a dozen processes."""
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
PIP = ["-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "-q"]


def tried(page: Path) -> Any:
    """Return a page as a parameter of a test."""
    return pytest.param(page, marks=pytest.mark.slow) if page.stem in SLOW else page


def clerk(tool: str) -> Any:
    """Return the script of a model that calls a tool for orders 7 and 8, and then answers."""

    def answer(request: Received) -> Answer:
        if any(message["role"] == "tool" for message in request.body["messages"]):
            return text("Order 7 ships on Monday, and order 8 on Friday.")
        return calls((tool, {"order_id": "7"}), (tool, {"order_id": "8"}))

    return answer


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
        more = {"SEAL_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": paths, "COLUMNS": "100"}
        more["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
        server = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"} if url else {}
        self.environment = kept | more | server
        sections = re.split(r"^(?=## )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        self.blocks = BLOCK.findall("".join(filter(is_installed, sections)))

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
        return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", self.of("console"), re.M)

    def does(self, command: str) -> "subprocess.CompletedProcess[str]":
        words = shlex.split(command)
        if words[:2] == ["pip", "install"]:
            pip = [sys.executable, *PIP, "--target", "installed", *words[2:]]
            return subprocess.run(pip, cwd=self.folder, capture_output=True, text=True)
        return run(words[1:] if words[0] == "python" else words, **self.place())

    def place(self) -> dict[str, object]:
        return {"cwd": self.folder, "env": self.environment}

    def is_shown(self, shown: str, output: str) -> bool:
        said = output.replace(f"{self.folder}/", "")
        lines = [re.sub(r"\d+(\.\d+)? s\b", "N s", line.rstrip()) for line in said.splitlines()]
        wanted = [re.sub(r"\d+(\.\d+)? s\b", "N s", line) for line in shown.splitlines()]
        parts = (r"(.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in wanted)
        return bool(re.fullmatch("".join(parts), "".join(line + "\n" for line in lines)))


@pytest.mark.parametrize("page", list(map(tried, PAGES)), ids=lambda page: page.stem)
def test_what_a_page_says_happens(page: Path, tmp_path: Path) -> None:
    for package in PACKAGES.get(page.stem, ()):
        pytest.importorskip(package)
    with ModelServer(clerk("get_order")) as server:
        url = server.url if page.stem == "evaluate-my-agent" else ""
        check(Reader(page, tmp_path, url))


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


def test_every_page_of_the_docs_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if f"docs/{page.name}" not in readme] == []


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
        for top in ("seal", "tests", "perf")
        for path in (ROOT / top).rglob("*")
        if "__pycache__" not in path.parts
    }
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+)/?(?:\.[A-Za-z_]+)?`|`([a-z_]+)\.py`", text)
    names = {path or module for path, module in named}
    gone = [name for name in names if not any(f"/{m}".endswith(f"/{name}") for m in modules)]
    assert not sorted(gone)
