"""The retrievers, and the figures that they should reach."""

from __future__ import annotations

from typing import Literal, NamedTuple

K = 10
MODEL = "model=all-MiniLM-L6-v2"
COSINES = f"hybrid,parts=tfidf+dense,{MODEL}"
SENTENCES = f"{COSINES},weight=0.6,sentences=true"
RETRIEVERS = {
    "BM25": "bm25",
    "TF-IDF": "tfidf",
    "MiniLM": f"dense,{MODEL}",
    "hybrid": COSINES,
}


class Wanted(NamedTuple):
    """A figure that is wanted, and the retriever that should reach it."""

    pool: str
    recall: float | None
    """None: ours is reported alone."""
    retriever: str
    size: int | Literal["all"] = "all"


WANTED = (
    Wanted("StableToolBench", 0.83, f"{SENTENCES},1.template=full"),
    Wanted("BFCL", 0.93, f"{COSINES},weight=0.6,template=full"),
    Wanted("BFCL by content", None, f"{COSINES},weight=0.6,template=full"),
    Wanted("MetaTool single", 0.85, COSINES),
    Wanted("MetaTool multi", 0.83, SENTENCES),
    Wanted("AnyTool", 0.57, f"{SENTENCES},1.template=full"),
    Wanted("APIBench HF", 0.48, f"{COSINES},template=full"),
    Wanted("SGD", 0.98, f"dense,{MODEL}"),
    Wanted("StableToolBench", 0.89, f"{SENTENCES},1.template=full", 500),
    Wanted("BFCL", 0.95, f"{COSINES},weight=0.6,template=full", 500),
)
