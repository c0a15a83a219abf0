"""The benchmarks: where their files are, and what an earlier program measured on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import seal


class Source(NamedTuple):
    """One pool: where it comes from, and what each of `RETRIEVERS` once measured on its files.

    That was another program, on the queries as its author read them: recall@10 and mrr@10.
    """

    importer: str
    folder: str
    options: dict[str, Any]
    earlier: tuple[tuple[float, float], ...] = ()


SOURCES = {
    "StableToolBench": Source(
        "toolbench",
        "stabletoolbench",
        {},
        ((0.754, 0.728), (0.818, 0.797), (0.704, 0.680), (0.808, 0.790)),
    ),
    "AnyTool": Source(
        "anytool", "anytool", {}, ((0.404, 0.418), (0.471, 0.477), (0.458, 0.461), (0.539, 0.506))
    ),
    "MetaTool single": Source(
        "metatool",
        "metatool",
        {"set": "single"},
        ((0.661, 0.480), (0.702, 0.507), (0.833, 0.637), (0.858, 0.664)),
    ),
    "MetaTool multi": Source(
        "metatool",
        "metatool",
        {"set": "multi"},
        ((0.616, 0.493), (0.714, 0.625), (0.735, 0.605), (0.829, 0.725)),
    ),
    "BFCL": Source(
        "bfcl",
        "bfcl",
        {"categories": "python_gold", "tool_per": "name"},
        ((0.843, 0.633), (0.840, 0.655), (0.881, 0.657), (0.914, 0.719)),
    ),
    "APIBench HF": Source(
        "apibench",
        "apibench",
        {"hub": "huggingface"},
        ((0.377, 0.209), (0.411, 0.215), (0.438, 0.236), (0.476, 0.258)),
    ),
    "APIBench TF": Source(
        "apibench",
        "apibench",
        {"hub": "tensorflow"},
        ((0.487, 0.210), (0.462, 0.202), (0.561, 0.320), (0.542, 0.293)),
    ),
    "APIBench torch": Source(
        "apibench",
        "apibench",
        {"hub": "torchhub"},
        ((0.382, 0.233), (0.382, 0.214), (0.435, 0.234), (0.441, 0.231)),
    ),
    "SGD": Source(
        "dialogtool",
        "sgd",
        {"view": "retrieval"},
        ((0.798, 0.453), (0.811, 0.463), (0.987, 0.699), (0.986, 0.614)),
    ),
    "BFCL by content": Source("bfcl", "bfcl", {"categories": "python_gold"}),
}
GRID = tuple(name for name, source in SOURCES.items() if source.earlier)
SMALL = "APIBench torch"
"""The benchmark of `--short`: 186 queries over 94 tools."""


class Pools:
    """Imports each benchmark when it is first asked for.

    Args:
        data: Folder of the upstream files.
        folder: Where pools are written.
    """

    def __init__(self, data: Path, folder: Path) -> None:
        self._data = data
        self._folder = folder
        self.absent: dict[str, str] = {}
        """Name to the reason."""

    def place(self, name: str) -> Path | None:
        """Return the pool's folder; None where its files are not here."""
        if name in self.absent:
            return None
        source = SOURCES[name]
        out = self._folder / name.replace(" ", "-")
        if not out.is_dir():
            if not (self._data / source.folder).is_dir():
                self.absent[name] = f"SEAL_DATA has no folder {source.folder}"
                return None
            seal.import_benchmark(
                source.importer, self._data / source.folder, out, **source.options
            )
        return out
