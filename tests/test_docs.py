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
from pathlib import Path
from typing import Any

import pytest
from forked import run

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
PACKAGES = {"mcp": ["mcp"], "frameworks": ["langgraph", "pydantic_ai"]}
"""Page to what it needs besides SEAL; without it the page is skipped."""
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
PIP = ["-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "-q"]


def tried(page: Path) -> Any:
    """Return a page as a parameter of a test; that of servers starts a dozen processes."""
    return pytest.param(page, marks=pytest.mark.slow) if page.stem == "mcp" else page


class Reader:
    """Somebody who does what a page says, in an empty folder."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.folder = folder
        ours = ("SEAL_", "OPENAI_", "GOOGLE", "NO_COLOR")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        paths = os.pathsep.join([str(folder), str(folder / "installed")])
        more = {"SEAL_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": paths, "COLUMNS": "100"}
        more["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
        self.environment = kept | more
        self.blocks = BLOCK.findall(page.read_text(encoding="utf-8"))

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
    reader = Reader(page, tmp_path)
    reader.write_files()
    if program := reader.of("python"):
        (tmp_path / "page.py").write_text(program, encoding="utf-8")
        done = run([tmp_path / "page.py"], **reader.place())
        assert done.returncode == 0, done.stderr
        assert reader.is_shown(reader.of("text"), done.stdout), done.stdout
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", reader.of("console"), re.M):
        done = reader.does(command)
        refused = shown.startswith("seal: ")
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
