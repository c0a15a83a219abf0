"""The same means by pytrec_eval, over the TREC files of the rankings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from offline_recall.retrievers import K


def gaps_to_pytrec(result: dict[str, Any], folder: Path) -> Iterator[float]:
    """Yield how far each mean is from that of pytrec_eval over the TREC files of one pool."""
    theirs = dict(map(pytrec_means, folder.glob("*/run.trec")))
    for entry in result["results"]:
        for metric, name in ((f"recall@{K}", f"recall_{K}"), (f"mrr@{K}", "recip_rank")):
            if metric in entry["metrics"]:
                ours = entry["metrics"][metric]["mean"]
                yield abs(ours - theirs[entry["retriever"]][name])


def pytrec_means(run: Path) -> tuple[str, dict[str, float]]:
    """Return the retriever that wrote a run, and the means of pytrec_eval over all queries."""
    import pytrec_eval

    with run.with_name("qrels.trec").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with run.open() as file:
        retriever = file.readline().split()[-1]
        file.seek(0)
        ranked = pytrec_eval.parse_run(file)
    measures = {f"recall.{K}", "recip_rank"}
    scored = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(ranked)
    names = (f"recall_{K}", "recip_rank")
    return retriever, {
        name: sum(scored.get(query, {}).get(name, 0.0) for query in qrels) / len(qrels)
        for name in names
    }
