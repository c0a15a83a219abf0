"""Rankings and gold in the forms of others: other scorers read our files and find our figures."""

from pathlib import Path

import ir_measures
import pytest
from ir_measures import RR, R, nDCG

import seal
from seal.api.objects.documents import Retrieval
from seal.api.pools import export


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
