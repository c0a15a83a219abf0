"""The form `beir` of `seal export`: corpus.jsonl, queries.jsonl, qrels/test.tsv."""

from itertools import chain

from seal.experiments.export import Writer, corpus


def write_beir(to: Writer) -> None:
    """Write the tools, queries and judgements of a pool."""
    to.read_back = "SEAL reads it: `seal import beir FOLDER --out POOL`."
    judged = corpus(to, titled=True)
    header = "query-id\tcorpus-id\tscore\n"
    lines = (f"{query}\t{tool}\t{grade:g}\n" for query, tool, grade in judged)
    to.text("qrels/test.tsv", "judgements", chain([header], lines))
    to.made.counts["judgements"] -= 1
