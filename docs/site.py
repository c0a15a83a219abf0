"""What the site has besides the pages of this folder: reference, results, notebooks."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

import seal
from seal.cli.dispatch import main
from seal.cli.verbs import VERBS, load
from seal.core import Scale
from seal.evaluation import REGISTRY
from seal.pools.catalogue import catalogue

ROOT = Path(__file__).resolve().parents[1]
DEFINED = re.compile(r"^- ([\w@]+(?:,\s+[\w@]+)*): (.*(?:\n  .*)*)", re.MULTILINE)
"""An item of a list that defines scores."""
CUTOFF = re.compile(r"@\d+")
NOUNS = {
    "Runs": ("run", "plan_run", "Run", "score", "report", "frames", "groupchat"),
    "Comparisons": ("compare", "ablate", "sweep", "leaderboard", "explain"),
    "Benchmarks": (
        *("Benchmark", "ask", "called", "ANY", "Argument", "result_of", "refused"),
        *("ends_as", "FinalState", "import_benchmark", "augment", "generate", "lint", "split"),
    ),
    "Retrievers": ("retrieve", "RetrieverSpec", "Retriever"),
    "Models and agents": ("Model", "Team", "Agent", "Chat", "Reply", "ChatModel", "Completion"),
    "Tools": ("Tool", "writes", "ToolCall", "ToolResult"),
    "Tasks, chats and scores": ("Task", "Goal", "Plan", "Trajectory", "Score", "Metric"),
    "Plug-ins and errors": ("register", "SealError"),
}
"""What the public names are about, in the order of the page of Python."""
BESIDE = {
    "Models and agents": ("seal.models.profiles.Profile",),
    "Tasks, chats and scores": ("seal.core.slots.Slot",),
}
"""What stands under a noun besides, in the order of its page."""
SAID = ("words", "claims", "mislabels", "changed_rows", "inabilities")
"""Modules of seal.evaluation whose texts say what answers may say."""
NOTEBOOK = re.compile(r"\]\(((?:notebooks/)?\w+)\.ipynb")
TABLE = re.compile("<table[^>]*>(.*?</table>)", re.DOTALL)


class Examples(Extension):
    """Lets the section `Example:` of a docstring be read as code."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Give the section the name that Griffe knows."""
        if obj.docstring:
            obj.docstring.value = obj.docstring.value.replace("Example:\n", "Examples:\n")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the reference and the files beside docs/."""
    made = {"python": python(), "command-line": command_line(), "metrics": metrics()}
    made["data"] = data()
    for name, text in made.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for path in sorted(ROOT.glob("results/*.md")):
        files.append(File.generated(config, f"results/{path.name}", abs_src_path=str(path)))
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        page = File.generated(config, f"notebooks/{path.stem}.md", content=notebook(path))
        files.append(page)
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let links to files beside docs/ lead to those of the site."""
    for folder in ("results", "notebooks"):
        markdown = markdown.replace(f"](../{folder}/", f"]({folder}/")
    return NOTEBOOK.sub(r"](\1.md", markdown)


def notebook(path: Path) -> str:
    """Return a notebook as a page: its texts, code and outputs."""
    cells = json.loads(path.read_bytes())["cells"]
    return "\n\n".join(part for cell in cells for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        shown = output.get("data", {"text/plain": output.get("text", "")})
        kinds = {kind: "".join(text) for kind, text in shown.items()}
        if "image/png" in kinds:
            yield f"![Figure](data:image/png;base64,{kinds['image/png'].strip()})"
        elif tables := TABLE.findall(kinds.get("text/html", "")):
            yield from (f"<table>{rows}" for rows in tables)  # with a class it would not scroll
        else:
            yield _fenced(kinds["text/plain"])


def python() -> str:
    """Return the page of the public names, those of one noun under one heading."""
    left = {name for names in NOUNS.values() for name in names} ^ set(seal.__all__)
    if left:
        raise ValueError(f"docs/site.py: each public name stands under one noun; not so: {left}")
    parts = ["# Python\n\nThe names of `import seal`, by what they are about.\n"]
    for noun, names in NOUNS.items():
        parts.append(f"## {noun}\n")
        places = (*(f"{seal._HOMES[name]}.{name}" for name in names), *BESIDE.get(noun, ()))
        parts += [f"::: {place}\n" for place in places]
    return "\n".join(parts)


def command_line() -> str:
    """Return the page of all verbs with all their options."""
    os.environ["COLUMNS"] = "100"
    parts = ["# Command line\n", _fenced(said("--help"))]
    for verb in VERBS:
        parts.append(f"## seal {verb}\n")
        parts += [_fenced(said(*words, "--help-all")) for words in commands(verb)]
    return "\n".join(parts)


def commands(verb: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of a verb, and of each verb below it."""
    yield (verb,)
    for below in getattr(get_command(load(verb)), "commands", ()):
        yield verb, below


def said(*words: str) -> str:
    """Return what a command prints; `--help` is asked where there is no `--help-all`."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        refused = main(words)
    sys.excepthook = sys.__excepthook__  # the command line sets its own
    return said(*words[:-1], "--help") if refused else out.getvalue()


def metrics() -> str:
    """Return the page of metrics: a heading for each score, then how their families measure."""
    scores, families = dict[str, str](), dict[str, list[str]]()
    for family in REGISTRY.names():
        kind = REGISTRY.resolve(family)
        one = kind()
        families.setdefault(kind.__module__, []).append(family)
        told = definitions(kind)
        given = (*(getattr(one, "names", None) or ()), *getattr(one, "main_of_some", ()))
        for score in given:
            name = CUTOFF.sub("@K", score)
            means = meaning(getattr(one, "scales", {}).get(score, Scale()))
            line = f"Of the family `{family}`. {means}\n"
            text = told.get(name, "")
            scores.setdefault(name, f"{line}\n{text[:1].upper()}{text[1:]}\n")
    parts = ["# Metrics\n", "`--metric NAME` adds a family, or one of its scores, to a run.\n"]
    parts += [f"## {name}\n\n{scores[name]}" for name in sorted(scores)]
    for module, names in families.items():
        title, text = documented(module)
        if text:
            of = ", ".join(f"`{name}`" for name in names)
            parts += [f"## How {of} measure\n", f"{title}\n", text]
    parts.append("## What an answer may say\n")
    for name in SAID:
        title, text = documented(f"seal.evaluation.{name}")
        parts += [f"### {title}\n", text]
    return "\n".join(parts)


def documented(module: str) -> tuple[str, str]:
    """Return the first line of a module's docstring, and the rest."""
    title, _, text = (import_module(module).__doc__ or module).partition("\n")
    return title, f"{text.strip()}\n" if text else ""


def meaning(scale: Scale) -> str:
    """Return the range of a score, which way is better, and what it is of alone."""
    ways = {True: "higher is better", False: "lower is better", None: "neither way is better"}
    within = "In [0, 1]" if scale.bounded else "A number with a unit of its own"
    only = f" Only of {scale.condition}." if scale.condition else ""
    return f"{within}; {ways[scale.higher_is_better]}.{only}"


def definitions(kind: type) -> dict[str, str]:
    """Return the definition of each score that the docstring of a family lists."""
    found = {}
    for names, text in DEFINED.findall(inspect.getdoc(kind) or ""):
        found |= dict.fromkeys(re.split(r",\s+", names), " ".join(text.split()))
    return found


def data() -> str:
    """Return the page of benchmarks with the licence of their data, and where it is from."""
    rows = ["| benchmark | licence of its data | from |", "|---|---|---|"]
    for name, entry in catalogue().items():
        rows.append(f"| `{name}`: {entry.title} | {entry.licence} | {entry.where} |")
    return (
        "# Licences of data\n\nThe code is under Apache-2.0. Data of others is under their terms, "
        "and none of it ships: you fetch it, and `seal import` reads it. The samples are our own. "
        "`seal export` writes the licence into the card of what it writes.\n\n" + "\n".join(rows)
    )


def _fenced(text: str) -> str:
    return f"```text\n{text.strip()}\n```\n"
