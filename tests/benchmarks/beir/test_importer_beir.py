"""Retrieval benchmarks in BEIR's layout and in ToolRet's: files of both, and bad ones."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import seal
from seal.benchmarks.beir.importer import tool_of_record
from seal.core import DataError, UsageError
from seal.core.schemas import usable_schema
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool

DOCUMENTS = [
    {"_id": "d1", "title": "Tide tables", "text": "High and low water of a harbour."},
    {"_id": "d2", "title": "", "text": "Ferries between two islands.", "metadata": {}},
    {"_id": "d3", "text": "Opening hours of a museum."},
]
QUERIES = [
    {"_id": "q1", "text": "When is high water in Oban?", "metadata": {"place": "Oban"}},
    {"_id": "q2", "text": "How do I get to Mull at low water?"},
    {"_id": "q3", "text": "Is anything open?"},
    {"_id": "q4", "text": "Of the training split"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\nq2\td1\t1\nq3\td3\t0\nq3\td9\t1\n"
TOOL = {
    "name": "high_water",
    "description": "Times of high water",
    "parameters": {
        "harbour": {"type": "str", "description": "its name"},
        "days": {"type": "int, optional", "default": "3"},
    },
}


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(lines(*DOCUMENTS), encoding="utf-8")
    (folder / "queries.jsonl").write_text(lines(*QUERIES), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(QRELS, encoding="utf-8")
    return folder


def imported(folder: Path, **options: Any) -> ImportReport:
    return import_benchmark("beir", folder, folder.parent / "pool", **options)


def tasks(folder: Path) -> dict[str, Any]:
    return {task.id: task for task in load_pool(folder.parent / "pool").tasks()}


def test_judged_documents_are_the_relevant_tools(beir: Path) -> None:
    report = imported(beir)
    assert (report.tasks, report.tools) == (2, 3)
    found = tasks(beir)
    assert found["q1"].goals[0].relevant == ("beir/Tide tables/d1",)
    assert found["q1"].goals[0].text == "When is high water in Oban?"
    assert found["q1"].goals[0].plans is None
    assert (found["q1"].split, found["q1"].metadata) == ("test", {"metadata": {"place": "Oban"}})
    assert found["q2"].tags == {
        "multi_tool": True,
        "multi_step": True,
        "relevant_outside_corpus": False,
    }
    assert found["q2"].goals[0].labels == {
        "grades": {"beir/document/d2": 2.0, "beir/Tide tables/d1": 1.0}
    }


def test_what_is_left_out_is_counted(beir: Path) -> None:
    report = imported(beir)
    assert report.dropped == {"relevant_outside_corpus": 1, "not_judged_in_split": 1}
    assert report.lacks == ("gold_calls", "parameters", "response_shapes")
    assert report.facts["counts"] == {
        "documents": 3,
        "documents_with_text_of_another": 0,
        "duplicates": 0,
        "judgements": 5,
        "judgements_below_min_score": 1,
        "judgements_of_unknown_documents": 1,
        "judgements_of_unknown_queries": 0,
        "queries": 4,
        "queries_that_are_documents": 0,
        "queries_with_grades": 1,
        "queries_with_relevant_outside_corpus": 0,
        "repeated_document_ids": 0,
        "repeated_judgements": 0,
        "repeated_queries": 0,
    }
    assert report.facts["relevance"].startswith("binary")


def test_a_query_says_which_relevant_documents_the_corpus_lacks(beir: Path) -> None:
    judged = "q1\td1\t1\nq1\td9\t1\nq1\td9\t1\nq1\td8\t0\nq2\td2\t1\nq3\td3\t0\n"
    (beir / "qrels" / "test.tsv").write_text(judged, encoding="utf-8")
    report = imported(beir)
    pool = load_pool(beir.parent / "pool")
    (lacking,) = pool.tasks(select={"relevant_outside_corpus": "true"})
    assert (lacking.id, lacking.metadata["relevant_outside_corpus"]) == ("q1", ["d9"])
    assert lacking.goals[0].relevant == ("beir/Tide tables/d1",)
    (whole,) = pool.tasks(select={"relevant_outside_corpus": "false"})
    assert "relevant_outside_corpus" not in whole.metadata
    assert report.facts["counts"]["queries_with_relevant_outside_corpus"] == 1
    assert report.facts["recall"] == "of the relevant documents that the corpus has"
    assert report.dropped["no_relevant_tool"] == 1


def test_a_least_score_leaves_weak_documents_out(beir: Path) -> None:
    assert imported(beir, min_score=2).tasks == 1
    assert tasks(beir)["q2"].goals[0].relevant == ("beir/document/d2",)
    with pytest.raises(UsageError, match=r"min_score: expected a number above 0, got 0"):
        imported(beir, min_score=0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels/test.tsv", "q1\td1\t1\n"),
        ("qrels/test.tsv", "\ufeffquery-id\tcorpus-id\tscore\r\nq1\td1\t1\r\n"),
        ("qrels/test.tsv", "q1\tQ0\td1\t1\n"),
        ("qrels/test.trec", "q1 0 d1 1\n"),
        ("test.tsv", "q1\td1\t1\n"),
        ("qrels.tsv", "q1\td1\t1\n"),
        ("qrels.txt", "q1 0 d1 1\n"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\textra\nq1\td1\t1\tx\n"),
        ("qrels.tsv", "score\tcorpus_id\tnote\tquery_id\n1\td1\t\tq1\n"),
        ("qrels.tsv", "topic iter docno rel\nq1 0 d1 1\n"),
    ],
)
def test_judgements_have_many_layouts(beir: Path, name: str, text: str) -> None:
    (beir / "qrels" / "test.tsv").unlink()
    (beir / name).write_text(text, encoding="utf-8", newline="")
    imported(beir)
    assert list(tasks(beir)) == ["q1"]


def test_what_nothing_is_made_of_is_counted_by_name(beir: Path) -> None:
    judged = "query-id\tcorpus-id\tscore\textra\nq1\td1\t1\t7\nq2\td2\t1\t8\nq2\td1\t1\n"
    (beir / "qrels" / "test.tsv").write_text(judged, encoding="utf-8")
    documents = [{**DOCUMENTS[0], "url": "u"}, *DOCUMENTS[1:]]
    (beir / "corpus.jsonl").write_text(lines(*documents), encoding="utf-8")
    queries = [{**query, "lang": "en"} for query in QUERIES]
    (beir / "queries.jsonl").write_text(lines(*queries), encoding="utf-8")
    report = imported(beir)
    assert report.facts["unread_fields"] == {
        "corpus": {"metadata": 1, "url": 1},
        "judgements": {"extra": 2},
        "queries": {"lang": 4},
    }
    assert report.dropped["malformed_judgement"] == 1
    assert "line 4: expected the columns query-id, corpus-id, score, extra" in report.malformed[0]
    assert tasks(beir)["q1"].goals[0].relevant == ("beir/Tide tables/d1",)


@pytest.mark.parametrize("retriever", ["bm25", "oracle"])
def test_a_document_that_is_the_query_itself_is_in_no_ranking_of_it(
    beir: Path, retriever: str
) -> None:
    twin = {"_id": "q1", "text": QUERIES[0]["text"]}
    (beir / "corpus.jsonl").write_text(lines(twin, *DOCUMENTS), encoding="utf-8")

    report = imported(beir)

    assert report.facts["counts"]["queries_that_are_documents"] == 1
    (beir.parent / "out").mkdir()
    found = seal.retrieve(beir.parent / "pool", retriever, k=1, out=beir.parent / "out")
    assert found.results[0]["recall@1"].mean == 0.75  # q1 wholly, one of two documents of q2
    (run,) = beir.parent.glob("out/*/run.trec")
    ranked = {line.split()[0]: line.split()[2] for line in run.read_text().splitlines()}
    assert ranked["q1:0"] == "beir/Tide%20tables/d1"


@pytest.mark.parametrize("retrieve", ["once", "on-demand"])
def test_a_run_is_not_offered_the_document_that_is_the_query_itself(
    beir: Path, retrieve: str
) -> None:
    twin = {"_id": "q1", "text": QUERIES[0]["text"]}
    (beir / "corpus.jsonl").write_text(lines(twin, *DOCUMENTS), encoding="utf-8")
    imported(beir)

    run = seal.run(
        beir.parent / "pool",
        model="lexical",
        retriever="bm25",
        retrieve=retrieve,
        top_k=1,
        out=beir.parent / "out",
        select={"id": "q1"},
        baselines=False,
    )

    (chat,) = run.folder.trajectories()
    assert chat.rankings
    assert {ranking.hits[0][0] for ranking in chat.rankings} == {"beir/Tide tables/d1"}
    assert not any(tool == "beir//q1" for ranking in chat.rankings for tool, _ in ranking.hits)


def test_a_query_that_is_its_own_relevant_document_may_find_it(beir: Path) -> None:
    (beir / "corpus.jsonl").write_text(
        lines({"_id": "q1", "text": "twin"}, *DOCUMENTS), encoding="utf-8"
    )
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tq1\t1\n")

    report = imported(beir)

    assert report.facts["counts"]["queries_that_are_documents"] == 0
    assert tasks(beir)["q1"].goals[0].labels == {}


def test_a_pair_that_is_judged_twice_is_counted_and_keeps_the_higher_grade(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text(QRELS + "q2\td1\t3\n", encoding="utf-8")

    report = imported(beir)

    assert report.facts["counts"]["repeated_judgements"] == 1
    assert tasks(beir)["q2"].goals[0].labels["grades"]["beir/Tide tables/d1"] == 3


def test_another_split_is_read_or_those_there_are_named(beir: Path) -> None:
    (beir / "qrels" / "train.tsv").write_text("q4\td1\t1\n", encoding="utf-8")
    imported(beir, split="train")
    assert tasks(beir)["q4"].split == "train"
    with pytest.raises(DataError, match=r"no judgements of the split 'dev'; it has: test, train"):
        imported(beir, split="dev")


def test_repeated_documents_and_queries_are_counted(beir: Path) -> None:
    again = {**DOCUMENTS[0], "_id": "d4"}
    (beir / "corpus.jsonl").write_text(
        lines(*DOCUMENTS, DOCUMENTS[0], {**DOCUMENTS[0], "text": "other"}, again), encoding="utf-8"
    )
    (beir / "queries.jsonl").write_text(
        lines(QUERIES[0], QUERIES[0], {**QUERIES[1], "text": QUERIES[0]["text"]}), encoding="utf-8"
    )
    report = imported(beir)
    counts = report.facts["counts"]
    assert (report.tools, counts["repeated_document_ids"]) == (4, 2)
    assert counts["documents_with_text_of_another"] == 1
    assert counts["repeated_queries"] == 1


def test_a_text_that_is_a_tools_json_gives_its_parts(beir: Path) -> None:
    document = {"_id": "d1", "text": json.dumps(TOOL)}
    (beir / "corpus.jsonl").write_text(lines(document), encoding="utf-8")
    imported(beir)
    (tool,) = load_pool(beir.parent / "pool").tools()
    assert (tool.id, tool.name) == ("beir/high_water/d1", "high_water")
    assert tool.description == "Times of high water"
    assert tool.parameters["required"] == ["harbour"]
    assert tool.parameters["properties"]["days"] == {"type": "integer", "default": 3}


def toolret(folder: Path, as_parquet: bool = False) -> Path:
    tools = [
        {"id": "apigen_tool_1", "documentation": json.dumps(TOOL)},
        {"id": "web_tool_2", "documentation": json.dumps({"name": "ferry", "description": "Go"})},
    ]
    labels = [{"id": "apigen_tool_1", "doc": TOOL, "relevance": 1}]
    query = {
        "id": "apigen_query_1",
        "query": "When is high water?",
        "instruction": "Given a tide task, find tools",
        "labels": json.dumps(labels),
        "category": "web",
    }
    if as_parquet:
        for name, rows in (("web/tools-0-of-1", tools), ("apigen/queries-0-of-1", [query])):
            path = folder / f"{name}.parquet"
            path.parent.mkdir(parents=True)
            parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        folder.mkdir(parents=True)
        (folder / "web.jsonl").write_text(lines(*tools), encoding="utf-8")
        (folder / "apigen.json").write_text(json.dumps([query]), encoding="utf-8")
        (folder / "config.json").write_text('{\n "a": 1\n}', encoding="utf-8")
    return folder


@pytest.mark.parametrize("as_parquet", [False, True])
def test_toolret_carries_its_labels_in_the_queries(tmp_path: Path, as_parquet: bool) -> None:
    source = toolret(tmp_path / "source", as_parquet)
    report = imported(source)
    assert (report.tasks, report.tools) == (1, 2)
    assert report.facts["ignored_files"] == ([] if as_parquet else ["config.json"])
    task = tasks(source)["apigen_query_1"]
    assert task.goals[0].relevant == ("beir/high_water/apigen_tool_1",)
    assert task.tags["group"] == "web"
    assert task.metadata == {"instruction": "Given a tide task, find tools"}


def test_without_a_corpus_the_labels_documents_are_the_pool(tmp_path: Path) -> None:
    source = toolret(tmp_path / "source")
    (source / "web.jsonl").unlink()
    assert imported(source).tools == 1


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("queries.jsonl", b'{"_id": "q1"}\n', r"queries\.jsonl, line 1: text: .*has: '_id'"),
        ("queries.jsonl", b'{"qid": 1, "text": "a"}\n', r"_id: .*has: 'qid', 'text'"),
        ("queries.jsonl", b'{"_id": ["q"], "text": "a"}\n', r"_id: .*got \['q'\]"),
        ("queries.jsonl", b'{"_id": "q1", "te', r"line 1: not JSON"),
        ("corpus.jsonl", b'{"_id": "d1"}\n', r"document 'd1' has no field 'text'; it has: '_id'"),
        ("corpus.jsonl", b'{"_id": "d1", "text": 5}\n', r"line 1: text: expected a text, got 5"),
        ("corpus.jsonl", b"[1]", r"record 0: expected an object with '_id', got 1"),
        ("corpus.jsonl", '{"_id": "é"}\n'.encode("latin-1"), r"not UTF-8: byte 0xe9 at offset 9"),
        ("corpus.jsonl", '{"_id": "d"}\n'.encode("utf-16"), r"not UTF-8: .*UTF-16"),
        ("qrels/test.tsv", b"q1\td1\n", r"line 1: expected query, document and score"),
        ("qrels/test.tsv", b"q2\td1\tx\n", r"line 1: the score is no number: 'x'"),
        ("qrels/test.tsv", b"q\xe9\td1\t1\n", r"test\.tsv, line 1: not UTF-8: byte 0xe9"),
    ],
)
def test_a_malformed_file_is_told_by_place_and_field(
    beir: Path, file: str, content: bytes, message: str
) -> None:
    (beir / file).write_bytes(content)
    with pytest.raises(DataError, match=message):
        imported(beir)


@pytest.mark.parametrize(
    ("file", "content", "reason", "told"),
    [
        ("queries.jsonl", b'{"_id": "q9"}\n', "malformed_query", "text: expected a text"),
        ("queries.jsonl", b'{"_id": "q9", "te\n', "malformed_query", "not JSON"),
        ("corpus.jsonl", b'{"_id": "d9"}\n', "malformed_document", "has no field 'text'"),
        ("corpus.jsonl", b'{"_id": "\xe9"}\n', "malformed_document", "not UTF-8"),
        ("qrels/test.tsv", b"q1\td1\tx\n", "malformed_judgement", "the score is no number"),
        ("qrels/test.tsv", b"q1\td1\tnan\n", "malformed_judgement", "the score is no number"),
        ("qrels/test.tsv", b"q\xe9\td1\t1\n", "malformed_judgement", "not UTF-8"),
    ],
)
def test_a_malformed_record_is_left_out_and_placed(
    beir: Path, file: str, content: bytes, reason: str, told: str
) -> None:
    whole = imported(beir)
    kept = (beir / file).read_bytes().rstrip() + b"\n"
    (beir / file).write_bytes(kept + content)
    report = imported(beir)
    assert (report.tasks, report.tools) == (whole.tasks, whole.tools)
    assert report.dropped == {**whole.dropped, reason: 1}
    (fault,) = report.malformed
    line = len(kept.splitlines()) + 1
    assert fault.startswith(f"{Path(file).name}, line {line}: ")
    assert told in fault


def test_a_set_of_which_no_query_is_judged_is_told(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match=r"holds no task of beir \(left out: 4 not_judged_in_split"):
        imported(beir)


def in_jsonl(folder: Path) -> None:
    for name in ("corpus.jsonl", "queries.jsonl"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    (folder / "qrels" / "test.jsonl").write_text(lines(*judgement_rows()), encoding="utf-8")
    (folder / "qrels" / "test.tsv").unlink()


def judgement_rows() -> list[dict[str, Any]]:
    header, *judged = (line.split("\t") for line in QRELS.splitlines())
    return [dict(zip(header, [*line[:2], int(line[2])], strict=True)) for line in judged]


def as_parquet(corpus: str, queries: str, *qrels: str) -> Any:
    """Return what writes a set as Parquet files: several of judgements are shards of one table."""

    def change(folder: Path) -> None:
        for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
            (folder / name).unlink()
        (folder / "qrels").rmdir()
        rows, size = judgement_rows(), -(-len(judgement_rows()) // len(qrels))
        shards = [(name, rows[n * size : (n + 1) * size]) for n, name in enumerate(qrels)]
        for name, content in ((corpus, DOCUMENTS), (queries, QUERIES), *shards):
            path = folder / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(pa.Table.from_pylist(content), path)

    return change


SHARD = "test-00000-of-00001"
SHAPES = {
    "packed JSON Lines": in_jsonl,
    "MTEB": as_parquet(f"corpus/{SHARD}", f"queries/{SHARD}", f"qrels/{SHARD}"),
    "judgements in shards": as_parquet(
        "corpus/corpus-00000-of-00001",
        "queries/queries-00000-of-00001",
        "qrels/test-00000-of-00002",
        "qrels/test-00001-of-00002",
    ),
    "judgements as the default table": as_parquet(
        "corpus/corpus-00000-of-00001", "queries/queries-00000-of-00001", f"data/{SHARD}"
    ),
    "a hub's conversion": as_parquet("corpus/test/0000", "queries/test/0000", "qrels/test/0000"),
    "one subset": as_parquet(f"en-corpus/{SHARD}", f"en-queries/{SHARD}", f"en-qrels/{SHARD}"),
    "a folder named query": as_parquet(f"corpus/{SHARD}", f"query/{SHARD}", f"qrels/{SHARD}"),
}


def packed(folder: Path) -> None:
    tsv = folder / "qrels" / "test.tsv"
    (folder / "qrels" / "test.tsv.gz").write_bytes(gzip.compress(tsv.read_bytes()))
    tsv.unlink()


SHAPES["packed judgements"] = packed


@pytest.mark.parametrize("change", SHAPES.values(), ids=SHAPES)
def test_every_shape_of_a_set_gives_equal_tasks(beir: Path, change: Any) -> None:
    whole = imported(beir)
    before = tasks(beir)
    change(beir)
    report = imported(beir)
    assert (report.tasks, report.tools, report.dropped) == (2, 3, whole.dropped)
    found = tasks(beir)
    assert {id: task.goals for id, task in found.items()} == {
        id: task.goals for id, task in before.items()
    }
    assert {task.split for task in found.values()} == {"test"}


@pytest.mark.parametrize("change", SHAPES.values(), ids=SHAPES)
def test_no_damage_to_a_shape_leaves_a_pool_without_tasks(beir: Path, change: Any) -> None:
    change(beir)
    whole = {path: path.read_bytes() for path in sorted(beir.rglob("*")) if path.is_file()}
    chance = random.Random(0)

    def garbled(content: bytes) -> bytes:
        at = chance.randrange(len(content))
        return content[:at] + chance.randbytes(8) + content[at + 8 :]

    ways = [lambda content: content[: len(content) // 2], lambda content: b"", None]
    for path, content in whole.items():
        for way in [*ways, *[garbled] * 12]:
            path.unlink() if way is None else path.write_bytes(way(content))
            try:
                report = imported(beir)
            except DataError as error:
                assert str(beir) in str(error) or "beir" in str(error)
            else:
                assert report.tasks == len(tasks(beir)) > 0
            path.write_bytes(content)


def test_of_several_subsets_one_is_named(beir: Path) -> None:
    other = as_parquet(f"de-corpus/{SHARD}", f"de-queries/{SHARD}", f"de-qrels/{SHARD}")
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        kept = (beir / name).read_bytes()
        place = beir / f"en-{name}"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(kept)
    other(beir)
    with pytest.raises(DataError, match="holds the subsets de, en; name one: -T subset=NAME"):
        imported(beir)
    for subset in ("de", "en"):
        assert imported(beir, subset=subset).tasks == 2
    with pytest.raises(DataError, match="holds the subsets de, en"):
        imported(beir, subset="fr")


def test_each_split_has_its_own_queries_and_corpus_where_they_are_apart(beir: Path) -> None:
    as_parquet(f"corpus/{SHARD}", f"queries/{SHARD}", f"qrels/{SHARD}")(beir)
    for kind, rows in (
        ("corpus", [{"_id": "d1", "text": "Another document of the same id."}]),
        ("queries", [{"_id": "q1", "text": "Another question?"}]),
        ("qrels", [{"query-id": "q1", "corpus-id": "d1", "score": 1}]),
    ):
        path = beir / kind / "dev-00000-of-00001.parquet"
        parquet.write_table(pa.Table.from_pylist(rows), path)
    assert imported(beir).tools == 3
    assert tasks(beir)["q1"].goals[0].text == "When is high water in Oban?"
    assert imported(beir, split="dev").tools == 1
    assert tasks(beir)["q1"].goals[0].text == "Another question?"


def test_queries_without_labels_need_judgements(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").unlink()
    with pytest.raises(DataError, match=r"labels: .*there must be a file qrels/SPLIT\.tsv"):
        imported(beir)


def test_a_wrong_folder_says_what_it_holds_and_what_is_expected(tmp_path: Path, beir: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match=r"holds notes\.txt; beir expects .*queries\.jsonl"):
        import_benchmark("beir", wrong, tmp_path / "pool")
    (beir / "corpus.jsonl").unlink()
    with pytest.raises(DataError, match=r"holds qrels/, queries\.jsonl; beir expects .*corpus"):
        imported(beir)


def test_a_folder_of_two_benchmarks_is_refused(beir: Path) -> None:
    (beir / "more").mkdir()
    (beir / "more" / "corpus.jsonl").write_text(lines(*DOCUMENTS), encoding="utf-8")
    with pytest.raises(DataError, match="name the folder of one benchmark"):
        imported(beir)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "description", "parameters", "type", "properties", "x"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_document_is_a_tool_with_a_schema(value: Any) -> None:
    tool = tool_of_record({"_id": "d", "text": json.dumps(value)}, "corpus.jsonl")
    assert tool.parameters["type"] == "object"
    assert usable_schema(tool.parameters)
    assert tool.name
