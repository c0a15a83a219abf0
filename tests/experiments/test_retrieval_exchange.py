"""Rankings and gold in the forms of others: other scorers read our files and find our figures."""

import json
from pathlib import Path
from random import Random

import ir_measures
import pytest
from ir_measures import RR, R, nDCG

import seal
from seal.api.benchmarks import export
from seal.api.experiment_results import Retrieval
from seal.core import UsageError


@pytest.fixture
def measured(tmp_path: Path) -> tuple[Retrieval, Path]:
    found = seal.retrieve("sample", "tfidf", (5, 10), out=tmp_path / "out", limit=40)
    return found, tmp_path / "out" / "sample-tfidf"


def test_ir_measures_finds_the_same_in_our_trec_files(
    measured: tuple[Retrieval, Path],
) -> None:
    found, folder = measured
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.trec")))
    run = list(ir_measures.read_trec_run(str(folder / "run.trec")))
    theirs = ir_measures.calc_aggregate([R @ 10, nDCG @ 10, RR @ 10], qrels, run)
    for measure, ours in ((R @ 10, "recall@10"), (nDCG @ 10, "ndcg@10"), (RR @ 10, "mrr@10")):
        assert theirs[measure] == pytest.approx(found.results[0][ours].mean, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*unsafe cast:Warning")  # of numba, over ranx's own code
def test_ranx_finds_the_same_in_our_trec_files(measured: tuple[Retrieval, Path]) -> None:
    ranx = pytest.importorskip("ranx")
    found, folder = measured
    qrels = ranx.Qrels.from_file(str(folder / "qrels.trec"), kind="trec")
    run = ranx.Run.from_file(str(folder / "run.trec"), kind="trec")
    theirs = ranx.evaluate(qrels, run, ["recall@10", "ndcg@10", "mrr@10"], make_comparable=True)
    for name, value in theirs.items():
        assert value == pytest.approx(found.results[0][name].mean, abs=1e-9)


def test_a_pool_comes_back_from_the_folder_of_beir_with_its_queries_and_gold(
    tmp_path: Path,
) -> None:
    exported = export("sample", "beir", tmp_path / "beir")
    seal.import_benchmark("beir", exported.folder, tmp_path / "back")
    (whole,) = seal.retrieve("sample", "oracle", 10).results
    (back,) = seal.retrieve(tmp_path / "back", "oracle", 10).results
    assert (back.queries, back.tools) == (whole.queries, whole.tools)
    assert back["recall@10"].mean == back["ndcg@10"].mean == 1.0
    assert back["precision@10"].mean == whole["precision@10"].mean


def test_a_run_that_was_written_is_scored_as_the_retriever_was(
    measured: tuple[Retrieval, Path],
) -> None:
    found, folder = measured
    read = seal.retrieve("sample", f"trec,file={folder / 'run.trec'}", (5, 10), limit=40)
    assert read.content["results"][0]["metrics"] == found.content["results"][0]["metrics"]


def test_a_run_file_that_changed_makes_another_experiment_and_run(
    measured: tuple[Retrieval, Path], tmp_path: Path
) -> None:
    _, folder = measured
    what = f"trec,file={folder / 'run.trec'}"
    asked = {"retrievers": what, "k": 5, "first": 1, "out": tmp_path / "again"}
    before = seal.retrieve("sample", **asked)
    played = {"retriever": what, "first": 1, "out": tmp_path / "run", "baselines": False}
    seal.run("sample", **played)
    assert seal.retrieve("sample", **asked, resume=True).content == before.content

    lines = (folder / "run.trec").read_text().splitlines(keepends=True)
    (folder / "run.trec").write_text("".join(lines[:-1]))

    with pytest.raises(UsageError, match="files_digest"):
        seal.retrieve("sample", **asked, resume=True)
    with pytest.raises(UsageError, match="retriever_files"):
        seal.run("sample", **played, resume=True)


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("imported", [False, True])
def test_a_foreign_run_is_scored_as_ir_measures_scores_it(tmp_path: Path, imported: bool) -> None:
    exported = Path(export("sample", "beir", tmp_path / "beir").folder)
    documents = [record["_id"] for record in _lines(exported / "corpus.jsonl")]
    asked = [record["_id"] for record in _lines(exported / "queries.jsonl")]
    drawn = Random(3)
    theirs = tmp_path / "their.run"
    theirs.write_text(
        "".join(
            f"{query} Q0 {document} 0 {drawn.randrange(20) / 7} bm42\n"  # many equal scores
            for query in asked
            for document in drawn.sample(documents, 30)
        )
    )
    if imported:
        seal.import_benchmark("beir", exported, tmp_path / "back")
    (ours,) = seal.retrieve(
        tmp_path / "back" if imported else "sample", f"trec,file={theirs}", (10, 30)
    ).results
    export("sample", "trec", tmp_path / "trec")
    values = ir_measures.calc_aggregate(
        [R @ 10, nDCG @ 10, RR],  # of equal scores RR@10 takes the first document, trec_eval not
        list(ir_measures.read_trec_qrels(str(tmp_path / "trec" / "qrels.trec"))),
        list(ir_measures.read_trec_run(str(theirs))),
    )
    for measure, name in ((R @ 10, "recall@10"), (nDCG @ 10, "ndcg@10"), (RR, "mrr@30")):
        assert ours[name].mean == pytest.approx(values[measure], abs=1e-9)


def test_judgements_of_trec_are_read_beside_the_corpus_and_queries_of_beir(tmp_path: Path) -> None:
    exported = Path(export("sample", "beir", tmp_path / "beir").folder)
    seal.import_benchmark("beir", exported, tmp_path / "one")
    export("sample", "trec", tmp_path / "trec")
    (exported / "qrels" / "test.tsv").unlink()
    (tmp_path / "trec" / "qrels.trec").replace(exported / "qrels" / "test.trec")
    seal.import_benchmark("beir", exported, tmp_path / "other")
    tasks = [(tmp_path / name / "tasks.jsonl").read_text() for name in ("one", "other")]
    assert tasks[0] == tasks[1]
