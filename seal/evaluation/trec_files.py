"""Rankings and relevant tools as files of TREC."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from seal.core import Ranking
from seal.core.records import AtomicFile
from seal.core.trec import query_id, trec_word
from seal.evaluation.ranking_metrics import Qrels, by_goal_of, collapse, grade_of, merge, wanted


def write_trec_run(
    path: Path, rankings: Iterable[Ranking], tag: str = "seal", qrels: Qrels | None = None
) -> int:
    """Write rankings as a TREC run file. Returns the number of goals.

    Query ids are `task:goal`. The score column counts down to 1, so that every TREC tool, whatever
    it does with equal scores, sees our order. Blanks and % in ids are percent-encoded.

    Args:
        path: Of the file.
        rankings: Several of one goal are merged (`merge`).
        tag: Name of the run.
        qrels: Whose `Alternatives` stand as one tool (`collapse`), as they do in the qrels file;
            None: every tool stands for itself.
    """
    goals = by_goal_of(rankings)
    with AtomicFile(path) as out:
        for key, group in goals.items():
            tools = collapse(merge(group), (qrels or {}).get(key, ()))
            head, end = f"{query_id(key)} Q0 ", f" {trec_word(tag)}\n"
            lines = (
                f"{head}{trec_word(tool)} {rank + 1} {len(tools) - rank}{end}"
                for rank, tool in enumerate(tools)
            )
            out.write("".join(lines).encode())
    return len(goals)


def write_trec_qrels(path: Path, qrels: Qrels) -> int:
    """Write relevant tools as a TREC qrels file, with their grades; `Alternatives` as their first.

    A grade is written as a whole number where it is one, as trec_eval reads it.

    Returns:
        The number of lines.
    """
    lines = 0
    with AtomicFile(path) as out:
        for key, relevant in qrels.items():
            for tool in wanted(relevant):
                grade = grade_of(relevant, tool)
                out.write(f"{query_id(key)} 0 {trec_word(tool)} {grade:g}\n".encode())
                lines += 1
    return lines
