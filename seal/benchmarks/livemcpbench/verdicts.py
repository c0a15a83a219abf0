"""What people and judges said of LiveMCPBench's runs.

A judge's file has the field `judge` for each task, a file of runs with people's labels the field
`task_success`. A verdict is success where its text has this word, as upstream counts it. Upstream
keeps a folder for each judge (`JUDGE/RUN.json`); files of one folder, `JUDGE.json`, do as well.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from seal.benchmarks.livemcpbench.tools import BENCHMARK
from seal.core import DataError, located
from seal.evaluation.judges.verdict_files import QueryVerdicts, VerdictFile
from seal.pools.reading.upstream_files import field, find, json_records

_JUDGE, _PEOPLE = "judge", "task_success"


def read_verdicts(path: Path) -> VerdictFile:
    """Return the verdicts of a judge's file, of people's, or of a folder of such files.

    Raises:
        DataError: A file cannot be read or holds no verdicts; the text names the place.
    """
    files = find(path, ["*.json", "*.json.gz"], f"a folder of verdicts of {BENCHMARK}")
    stems = [file.name.partition(".json")[0] for file in files]
    shared = len({*stems}) < len(stems)
    judges = []
    labels: defaultdict[str, dict[int, str]] = defaultdict(dict)
    answers: dict[str, str | None] = {}
    for vote, (file, stem) in enumerate(zip(files, stems, strict=True)):
        name = "people"
        for place, record in json_records(file):
            with located(place):
                task = field(record, "task_id", str)
                if _JUDGE in record:
                    name = file.parent.name if shared else stem
                said = field(record, _JUDGE if _JUDGE in record else _PEOPLE, str)
                if vote in labels[task]:
                    raise DataError(f"task {task!r} stood before; leave one record of it in")
            labels[task][vote] = "solved" if "success" in said.lower() else "unsolved"
            answers[task] = record.get("response", answers.get(task))
        judges.append(name)
    if not labels:
        raise DataError(f"{path}: no verdicts; expected records with {_JUDGE} or {_PEOPLE}")
    queries = {task: QueryVerdicts(None, of, answers[task]) for task, of in labels.items()}
    return VerdictFile(path, queries, tuple(judges))
