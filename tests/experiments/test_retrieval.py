"""Experiments in retrieval, over one or more pools."""

import csv
import os
from dataclasses import replace
from io import StringIO
from pathlib import Path
from statistics import mean

import orjson
import pytest
import pytrec_eval
from rich.console import Console
from servers import failure
from small_pools import TOOLS, many, tool, weather_goal, write_pool

import seal
from seal.api.benchmarks import load_pool
from seal.api.experiment_results import Retrieval
from seal.core import DataError, Goal, Ranking, Task, Tool, UnknownNameError, UsageError
from seal.core.records import read_records
from seal.evaluation.significance import holm
from seal.experiments.retrieval import retrieve
from seal.experiments.settings import RetrievalSettings
from seal.report.retrieval import retrieval_tables
from seal.retrievers.base import RetrieverSpec


class First:
    """Ranks tools by id alone."""

    def __init__(self, pool):
        self._ids = sorted(tool.id for tool in pool.tools)

    def retrieve(self, queries, k):
        return [[(tool, 1.0 - n / 10) for n, tool in enumerate(self._ids[:k])] for _ in queries]


class Broken:
    """Answers too little."""

    def __init__(self, pool):
        pass

    def retrieve(self, queries, k):
        return []


class Raising:
    """Fails as a plug-in may."""

    def __init__(self, pool):
        pass

    def retrieve(self, queries, k):
        raise RuntimeError("out of\nmemory")


class Panicking(Raising):
    """Raises what is no common exception when it is asked."""

    def retrieve(self, queries, k):
        raise type("PanicException", (BaseException,), {})("odd")


class Leaving(Raising):
    """Ends the process when it is built."""

    def __init__(self, pool):
        raise SystemExit(3)


def large_pool(folder: Path, tools: int = 40) -> Path:
    """Write a pool of one task a tool, and a second task for every fourth."""
    made = [
        tool(f"t{n:02}", f"Tells fact {n} of topic {n % 7}.", word="string") for n in range(tools)
    ]
    asked = [
        Task(f"q{n:02}", "large", (Goal(f"Tell me fact {n} of {n % 7}", relevant=(one.id,)),))
        for n, one in enumerate(made)
    ]
    pairs = [
        Task(
            f"p{n:02}",
            "large",
            (Goal(f"Facts {n}, {n + 1}", relevant=(made[n].id, made[n + 1].id)),),
        )
        for n in range(0, tools - 1, 4)
    ]
    return write_pool(folder, [*asked, *pairs], made)


def measured(pools: list[Path | str], retrievers: list[str], out: Path, **settings: object) -> dict:
    """Measure as `seal.retrieve` does, without the files of the extra."""
    return retrieve(pools, retrievers, RetrievalSettings(**settings), out)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of an experiment, but for what it took."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.name != "timings.jsonl")
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def test_every_retriever_meets_every_pool(pool: Path):
    found = seal.retrieve([pool, "sample"], ["oracle", First], k=(1, 3), limit=3).content["results"]

    assert [(r["pool"], r["retriever"]) for r in found] == [
        ("pool", "oracle"),
        ("pool", "test_retrieval:First"),
        ("sample", "oracle"),
        ("sample", "test_retrieval:First"),
    ]
    assert found[0]["metrics"]["recall@1"]["mean"] == 1.0
    assert found[1]["metrics"]["recall@1"]["mean"] == 0.0  # convert, news, weather
    assert found[1]["metrics"]["recall@3"]["mean"] == 1.0
    assert found[1]["metrics"]["mrr@3"]["mean"] == pytest.approx(1 / 3, abs=1e-12)
    assert (found[0]["tools"], found[0]["queries"]) == (3, 3)


def test_more_than_the_pool_holds_ranks_all_of_it(pool: Path, tmp_path: Path):
    measured([pool], ["oracle"], tmp_path / "out", k=(1, 500))

    rankings = list(read_records(tmp_path / "out" / "pool-oracle" / "rankings.jsonl", Ranking))
    assert len(rankings) == 4
    assert all(len(ranking.hits) == len(TOOLS) for ranking in rankings)


def test_the_files_of_an_experiment(pool: Path, tmp_path: Path):
    found = seal.retrieve(pool, ["oracle", "tfidf"], out=tmp_path / "out").content

    files = set(contents(tmp_path / "out"))
    ranked = ("rankings.jsonl", "run.trec", "qrels.trec")
    assert {f"pool-{name}/{file}" for name in ("oracle", "tfidf") for file in ranked} < files
    assert {"results.json", "results.csv"} < files
    assert {
        f"figures/recall_over_{x}.{kind}" for x in ("k", "pools") for kind in ("svg", "png")
    } < files
    assert orjson.loads((tmp_path / "out" / "results.json").read_bytes()) == found
    with (tmp_path / "out" / "results.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 2 * 24  # 8 metrics at 3 cut-offs
    assert rows[0]["value"] == "1.0"


def qrels_in(folder: Path) -> dict[str, dict[str, int]]:
    with (folder / "qrels.trec").open() as lines:
        return pytrec_eval.parse_qrel(lines)


def trec_means(folder: Path, k: int, queries: set[str] | None = None) -> dict[str, float]:
    """Score the files of a folder, or some of their queries, by trec_eval itself."""
    gold = {q: tools for q, tools in qrels_in(folder).items() if queries is None or q in queries}
    with (folder / "run.trec").open() as lines:
        ranked = pytrec_eval.parse_run(lines)
    ours = {f"recall_{k}": f"recall@{k}", "recip_rank": f"mrr@{k}", f"ndcg_cut_{k}": f"ndcg@{k}"}
    scorer = pytrec_eval.RelevanceEvaluator(gold, {f"recall.{k}", "recip_rank", f"ndcg_cut.{k}"})
    scores = scorer.evaluate(ranked).values()
    return {ours[name]: mean(score[name] for score in scores) for name in ours}


def test_the_means_are_those_of_trec_eval_on_the_written_files(tmp_path: Path):
    pool, out = large_pool(tmp_path / "pool"), tmp_path / "out"
    settings = {"k": (1, 5), "pool_sizes": (8, "all"), "samples": 3}
    found = measured([pool], ["tfidf", "random"], out, **settings)

    for entry in found["results"]:
        folder = out / f"pool-{entry['retriever']}"
        if entry["size"] == "all":
            for name, value in trec_means(folder, 5).items():
                assert entry["metrics"][name]["mean"] == pytest.approx(value, abs=1e-9)
        for sample in entry["by_sample"]:
            for name, value in trec_means(folder / f"8-{sample['sample']}", 5).items():
                assert sample["metrics"][name] == pytest.approx(value, abs=1e-9)


def test_every_sample_can_be_scored_again_by_the_queries_that_it_drew(tmp_path: Path):
    pool, out = large_pool(tmp_path / "pool"), tmp_path / "out"
    settings = {"pool_sizes": (20, "all"), "samples": 3, "queries": 6, "k": (5,)}
    found = measured([pool], ["random"], out, **settings)

    lines = map(orjson.loads, (out / "draws.jsonl").read_bytes().splitlines())
    drawn = {(line["size"], line["sample"]): line for line in lines}
    for entry in found["results"]:
        for sample in entry["by_sample"]:
            line = drawn.pop((entry["size"], sample["sample"]))
            assert line["tools_digest"] == sample["tools_digest"]
            place = "." if entry["size"] == "all" else f"20-{sample['sample']}"
            again = trec_means(out / "pool-random" / place, 5, set(line["queries"]))
            for name, value in again.items():
                assert sample["metrics"][name] == pytest.approx(value, abs=1e-9)
    assert drawn == {}
    for place in ("20-0", "20-1", "20-2"):
        assert len(qrels_in(out / "pool-random" / place)) == 6


def test_alternatives_count_as_one_tool_in_figures_and_files(tmp_path: Path):
    either = (TOOLS[0].id, TOOLS[1].id)
    goal = Goal("convert an amount between currencies, weather", relevant=either, any_relevant=True)
    tasks = [Task("either", "b", (goal,)), Task("both", "b", (replace(goal, any_relevant=False),))]
    pool, out = write_pool(tmp_path / "pool", tasks), tmp_path / "out"
    (found,) = measured([pool], ["tfidf"], out, k=(2,))["results"]

    assert found["metrics"]["recall@2"]["mean"] == 0.75  # convert first, then one of the two
    for name, value in trec_means(out / "pool-tfidf", 2).items():
        assert found["metrics"][name]["mean"] == pytest.approx(value, abs=1e-9)


def test_scores_that_hold_the_order_alone_are_not_calibrated(tmp_path: Path):
    greetings = [Task(f"hi-{n}", "small", (Goal(f"Hello {n}", plans=()),)) for n in range(3)]
    pool = write_pool(tmp_path / "pool", [*many(4), *greetings])
    ordered = ["rerank,of=tfidf", "random", 'rerank,of="rerank,of=tfidf"']
    found = measured([pool], ["tfidf", *ordered], tmp_path / "out", k=(1,))

    told = {entry["retriever"]: set(entry) for entry in found["results"]}
    assert [what for what, keys in told.items() if "calibration" in keys] == ["tfidf"]
    assert [what for what, keys in told.items() if "uncalibrated" in keys] == ordered
    lines = [line for line in retrieval_tables(found) if isinstance(line, str)]
    assert sum("no AUROC, because its scores hold the order" in line for line in lines) == 3


def test_drawn_pools_give_means_and_deviations_over_samples(tmp_path: Path):
    pool = large_pool(tmp_path / "pool")
    asked = seal.retrieve(pool, "tfidf", k=3, pool_sizes=(8, 20, "all"), samples=4)
    found = asked.content["results"]

    assert [(entry["size"], entry["tools"], entry["samples"]) for entry in found] == [
        (8, 8, 4),
        (20, 20, 4),
        ("all", 40, 1),
    ]
    drawn = found[0]
    means = [sample["metrics"]["recall@3"] for sample in drawn["by_sample"]]
    assert drawn["metrics"]["recall@3"]["mean"] == pytest.approx(mean(means), abs=1e-9)
    assert drawn["metrics"]["recall@3"]["deviation"] is not None
    assert drawn["queries"] == mean(sample["queries"] for sample in drawn["by_sample"])
    low, high = (drawn["metrics"]["recall@3"][end] for end in ("low", "high"))
    assert low <= drawn["metrics"]["recall@3"]["mean"] <= high
    assert found[2]["metrics"]["recall@3"]["deviation"] is None


def test_a_size_without_samples_enough_has_no_deviation(tmp_path: Path):
    pool = large_pool(tmp_path / "pool")
    (found,) = seal.retrieve(pool, "tfidf", k=3, pool_sizes=(8,), samples=1).content["results"]
    assert found["metrics"]["recall@3"]["deviation"] is None
    assert found["queries_deviation"] is None


@pytest.mark.parametrize("distractors", ["uniform", "same_tool", "nearest"])
@pytest.mark.parametrize("queries_in", ["closure", "seeds", "fixed"])
def test_every_protocol_draws(tmp_path: Path, distractors: str, queries_in: str):
    pool = large_pool(tmp_path / "pool")
    settings = {"pool_sizes": (8, 16), "samples": 2, "distractors": distractors}
    found = seal.retrieve(
        pool, "tfidf", k=3, queries_in=queries_in, nested=False, **settings
    ).content

    assert found["protocol"]["distractors"] == distractors
    assert [entry["tools"] for entry in found["results"]] == [8, 16]
    if queries_in == "fixed":
        assert len({entry["queries"] for entry in found["results"]}) == 1


def test_only_drawn_queries_are_ranked_with_the_results_that_all_would_give(tmp_path: Path):
    asked: list[str] = []

    class Counting(First):
        def retrieve(self, queries, k):
            asked.extend(query.task_id for query in queries)
            return super().retrieve(queries, k)

    pool = large_pool(tmp_path / "pool")
    every = tmp_path / "every"
    measured([pool], ["tfidf"], every, k=(5,))
    drawn = measured([pool], ["tfidf"], tmp_path / "drawn", k=(5,), queries=4, samples=2)
    seal.retrieve(pool, Counting, k=5, queries=4, samples=2)

    lines = (tmp_path / "drawn" / "draws.jsonl").read_text().splitlines()
    queries = {query for line in lines for query in orjson.loads(line)["queries"]}
    assert len(asked) == len(set(asked)) == len(queries)
    for sample, line in zip(drawn["results"][0]["by_sample"], lines, strict=True):
        again = trec_means(every / "pool-tfidf", 5, set(orjson.loads(line)["queries"]))
        assert sample["metrics"]["recall@5"] == pytest.approx(again["recall@5"], abs=1e-9)


def test_equal_numbers_of_queries_are_drawn_of_every_pool(tmp_path: Path):
    pools = [large_pool(tmp_path / "a", 40), large_pool(tmp_path / "b", 20)]
    found = seal.retrieve(pools, ["tfidf", "random"], k=3, queries=10, samples=5).content["results"]

    assert {(entry["queries"], entry["samples"]) for entry in found} == {(10, 5)}
    assert all(entry["queries_deviation"] == 0 for entry in found)
    assert all(len(entry["by_sample"]) == 5 for entry in found)
    assert found[0]["metrics"]["recall@3"]["n"] == 50
    with pytest.raises(UsageError, match="pool b of size all, sample 0, has 25 queries"):
        seal.retrieve(pools, "tfidf", queries=26)


def test_retrievers_are_compared_in_pairs(tmp_path: Path):
    pool = large_pool(tmp_path / "pool")
    found = seal.retrieve(pool, ["tfidf", "random", "oracle"], k=3).content
    pairs = found["comparisons"]

    measures = ("recall", "mrr", "ndcg", "map", "rprec")
    assert [pair["metric"] for pair in pairs] == [f"{it}@3" for it in measures for _ in range(3)]
    means = {entry["retriever"]: entry["metrics"] for entry in found["results"]}
    for pair in pairs:
        one, other = (means[pair[side]][pair["metric"]]["mean"] for side in ("retriever", "other"))
        assert pair["difference"] == pytest.approx(one - other, abs=1e-9)
        assert pair["low"] <= pair["difference"] <= pair["high"]
        assert pair["p"] <= pair["p_holm"] <= 1
    by_pair = {(p["retriever"], p["other"], p["metric"]): p for p in pairs}
    for measure in measures:
        tested = [pair for pair in pairs if pair["metric"] == f"{measure}@3"]
        assert [pair["p_holm"] for pair in tested] == pytest.approx(
            holm([pair["p"] for pair in tested]), abs=1e-6
        )
        assert by_pair["tfidf", "random", f"{measure}@3"]["p_holm"] < 0.01


def test_differences_over_samples_are_those_of_the_means(tmp_path: Path):
    pool = large_pool(tmp_path / "pool")
    found = seal.retrieve(pool, ["tfidf", "random"], k=3, pool_sizes=(10,), samples=3).content
    one, other = (entry["metrics"]["recall@3"]["mean"] for entry in found["results"])
    assert found["comparisons"][0]["difference"] == pytest.approx(one - other, abs=1e-9)


def test_pools_of_one_name_keep_their_files_apart(tmp_path: Path):
    pools = [write_pool(tmp_path / side / "same", many(n)) for n, side in ((1, "a"), (2, "b"))]
    found = measured(pools, ["tfidf"], tmp_path / "out")

    assert [entry["pool"] for entry in found["results"]] == ["same", "same-2"]
    for name, count in (("same-tfidf", 1), ("same-2-tfidf", 2)):
        lines = (tmp_path / "out" / name / "rankings.jsonl").read_bytes().splitlines()
        assert len(lines) == count


def test_equal_retrievers_are_told_apart(pool: Path, tmp_path: Path):
    found = measured([pool], ["tfidf", "tfidf", "tfidf,template=name"], tmp_path / "out")

    labels = [entry["retriever"] for entry in found["results"]]
    assert labels == ["tfidf", "tfidf-2", "tfidf,template=name"]
    assert [r["template"] for r in found["retrievers"]] == [
        "tool_api_description",
        "tool_api_description",
        "name",
    ]
    assert len(list((tmp_path / "out").glob("pool-*"))) == 3


def test_a_spec_may_be_an_object(pool: Path):
    asked = seal.retrieve(pool, RetrieverSpec("tfidf", {"template": "name"}), k=1)
    found = asked.content["results"]
    assert found[0]["identity"] == "tfidf/name"


def test_goals_without_relevant_tools_count_as_undefined(tmp_path: Path):
    goals = (weather_goal("Rome"), replace(weather_goal("Oslo"), relevant=()))
    pool = write_pool(tmp_path / "pool", [Task("t", "b", goals)])
    (found,) = seal.retrieve(pool, "oracle", k=1).content["results"]

    recall = found["metrics"]["recall@1"]
    assert found["queries"] == 1
    assert (recall["n"], recall["undefined"], recall["mean"]) == (1, 1, 1.0)
    assert (recall["low"], recall["high"]) == (None, None)  # one task has no interval


def test_groups_stand_beside_the_whole(pool: Path):
    (found,) = seal.retrieve(pool, "oracle", k=1).content["results"]
    assert found["metrics"]["recall@1"]["by"]["one"]["n"] == 4


def test_a_pool_without_relevant_tools_has_nothing_to_measure(tmp_path: Path):
    goal = replace(weather_goal("Rome"), relevant=())
    pool = write_pool(tmp_path / "pool", [Task("t", "b", (goal,))])
    found = seal.retrieve(pool, ["oracle", "tfidf"], k=1, out=tmp_path / "out").content

    assert found["results"][0]["metrics"]["recall@1"]["mean"] is None
    assert len(Retrieval.load(tmp_path / "out").frame) == 2 * 8
    assert found["comparisons"] == []
    with pytest.raises(UsageError, match="pool pool: no task has relevant tools"):
        seal.retrieve(pool, "oracle", pool_sizes=(2,))


def test_random_retrieval_depends_on_the_seed_alone(tmp_path: Path):
    def hits(seed: int, out: str) -> bytes:
        measured(["sample"], ["random"], tmp_path / out, seed=seed, limit=5)
        return (tmp_path / out / "sample-random" / "rankings.jsonl").read_bytes()

    assert hits(1, "a") == hits(1, "b") != hits(2, "c")


@pytest.mark.slow
def test_the_same_experiment_writes_the_same_bytes(tmp_path: Path):
    pool = large_pool(tmp_path / "pool")
    settings = {"pool_sizes": (8, 20, "all"), "samples": 2, "limit": 20}
    for out in ("a", "b"):
        measured([pool, "sample"], ["tfidf", "random"], tmp_path / out, **settings)

    first, second = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert len(first) > 20
    assert [name for name in first if first[name] != second.get(name)] == []
    assert first.keys() == second.keys()


def test_the_order_of_pools_changes_no_figure(tmp_path: Path):
    pools = [large_pool(tmp_path / "a", 40), large_pool(tmp_path / "b", 20)]

    def figures(pools: list[Path]) -> dict[str, object]:
        found = seal.retrieve(pools, ["tfidf"], k=3, pool_sizes=(10, "all"), samples=2).content
        return {(entry["pool"], entry["size"]): entry for entry in found["results"]}

    assert figures(pools) == figures(pools[::-1])


def test_a_retriever_that_cannot_be_asked_stops_no_other(pool: Path):
    keyless = "dense,model=openai/m"
    found = seal.retrieve([pool, "sample"], ["tfidf", Broken, keyless], k=1).content

    entries = {(entry["pool"], entry["retriever"]): entry for entry in found["results"]}
    assert entries["pool", "tfidf"]["metrics"]["recall@1"]["mean"] is not None
    for label, reason in (
        ("test_retrieval:Broken", "0 rows for 4 queries"),
        (keyless, "OPENAI_API_KEY"),
    ):
        assert reason in entries["pool", label]["unavailable"]
        assert entries["pool", label]["metrics"] == {}
    assert found["comparisons"] == []


def test_what_a_plug_in_raises_costs_no_other_retriever(pool: Path, tmp_path: Path):
    out = tmp_path / "out"
    measured([pool], [Raising, "tfidf", Leaving, Panicking], out, k=(1,))

    raising, tfidf, leaving, panicking = orjson.loads((out / "results.json").read_bytes())[
        "results"
    ]
    assert tfidf["metrics"]["recall@1"]["mean"] is not None
    assert raising["unavailable"].startswith("RuntimeError: out of memory (test_retrieval")
    assert leaving["unavailable"].startswith("SystemExit: 3")
    assert panicking["unavailable"].startswith("PanicException: odd")
    assert (out / "pool-tfidf" / "run.trec").is_file()


def test_a_server_that_is_down_is_told(pool: Path, model_server):
    server = model_server([failure(400, "no such model here")])
    label = f"dense,model=openai/m,base_url={server.url}"
    found = seal.retrieve(pool, ["tfidf", label], k=1).content["results"]
    assert "no such model here" in found[1]["unavailable"]


def test_the_model_that_was_trained_on_a_pool_is_marked(pool: Path, tmp_path: Path):
    folder = tmp_path / "model"
    folder.mkdir()
    digest = load_pool(pool).digest
    (folder / "training.json").write_bytes(orjson.dumps({"pool": "p", "pool_digest": digest}))
    trained = f"test_retrieval:First,model={folder}"
    found = seal.retrieve([pool, "sample"], [trained, "tfidf"], k=1, limit=2).content

    marks = {(e["pool"], e["retriever"]): e.get("in_source") for e in found["results"]}
    assert found["results"][0]["training_queries"] is None  # the record names no tasks
    assert marks["pool", trained] is True
    assert marks["sample", trained] is False
    assert marks["pool", "tfidf"] is None
    (folder / "training.json").write_text("{")
    with pytest.raises(DataError, match=r"training\.json: not JSON"):
        seal.retrieve(pool, trained, k=1)


def trained_on(pool: Path, folder: Path, train: list[str], test: list[str]) -> Path:
    """Write the record of a model that was trained on tasks of a pool."""
    opened = load_pool(pool)
    split = {"train": train, "test": test}
    record = {"pool": opened.name, "pool_digest": opened.digest, "split": split}
    folder.mkdir()
    (folder / "training.json").write_bytes(orjson.dumps(record))
    return folder


def shown(found: dict) -> str:
    console = Console(file=StringIO(), width=300)
    for part in retrieval_tables(found):
        console.print(part)
    return console.file.getvalue()


def test_another_pool_of_the_same_name_is_not_that_of_the_training(tmp_path: Path):
    one, other = (write_pool(tmp_path / side / "beir", many(n)) for n, side in ((3, "a"), (4, "b")))
    model = trained_on(one, tmp_path / "model", ["rome-0"], ["oslo-1"])
    found = seal.retrieve([one, other], f"test_retrieval:First,model={model}", k=1).content
    assert [entry["in_source"] for entry in found["results"]] == [True, False]


def test_figures_that_hold_training_queries_are_marked(pool: Path, tmp_path: Path):
    model = trained_on(pool, tmp_path / "model", ["rome-0", "oslo-1", "bern-2"], ["lima-3"])
    retrievers = [f"test_retrieval:First,model={model}", "tfidf"]
    found = seal.retrieve(pool, retrievers, k=1, out=tmp_path / "out").content
    assert found["results"][0]["training_queries"] == 3
    assert "R1* " in shown(found)
    assert "*: the retriever was trained on queries of this pool; --held-out" in shown(found)

    apart = seal.retrieve(pool, retrievers, k=1, held_out=model, out=tmp_path / "apart").content
    assert [entry["queries"] for entry in apart["results"]] == [1, 1]
    assert apart["results"][0]["training_queries"] == 0
    assert "R1+ " in shown(apart)
    assert "*: " not in shown(apart)


def test_held_out_tasks_need_a_record_and_its_pool(pool: Path, tmp_path: Path):
    with pytest.raises(UsageError, match=r"no training\.json there"):
        seal.retrieve(pool, "tfidf", held_out=tmp_path)
    model = trained_on(pool, tmp_path / "model", ["rome-0"], ["lima-3"])
    with pytest.raises(UsageError, match="none of those given"):
        seal.retrieve("sample", "tfidf", held_out=model)
    with pytest.raises(UsageError, match="none of its held-out tasks is among"):
        seal.retrieve(pool, "tfidf", held_out=model, limit=1)


@pytest.mark.parametrize(
    ("words", "settings", "says"),
    [
        (([], ["tfidf"]), {}, "needs a pool and a retriever"),
        ((["sample"], []), {}, "needs a pool and a retriever"),
        ((["sample"], ["tfidf"], ()), {}, r"--cutoffs \(\): expected a list"),
        ((["sample"], ["tfidf"], (0,)), {}, "--cutoffs 0: expected a whole number"),
        ((["sample"], ["tfdif"]), {}, "Did you mean 'tfidf'"),
        ((["sample"], ["tfidf"]), {"select": {"group": "two"}}, "group: "),
        ((["sample"], ["tfidf"]), {"pool_sizes": (0,)}, "--pool-sizes 0"),
        ((["sample"], ["tfidf"]), {"pool_sizes": (50, 66)}, "largest pool has 65 tools"),
        ((["sample"], ["tfidf"]), {"pool_sizes": (1,), "queries": 99}, "--queries 99: pool sample"),
        ((["sample"], ["tfidf"]), {"samples": 0}, "--samples 0"),
        ((["sample"], ["tfidf"]), {"queries": 0}, "--queries 0"),
        ((["sample"], ["tfidf"]), {"distractors": "nearst"}, "Did you mean 'nearest'"),
        ((["sample"], ["tfidf"]), {"queries_in": "all"}, "no value of queries_in 'all'"),
        ((["sample"], ["tfidf"]), {"pool_size": (5,)}, "Did you mean 'pool_sizes'"),
        ((["sample"], ["oracle,foo=1"]), {}, "no option -R of oracle 'foo'"),
        ((["sample"], ["bm25,k1=abc"]), {}, "k1 = 'abc': expected a number"),
        ((["sample"], ["hybrid,parts=tfidf"]), {}, "parts=tfidf: expected two or more"),
        ((["sample"], ["tfidf"]), {"options": {"api_key": "x"}}, "api_key"),
    ],
)
def test_what_cannot_be_measured_says_why(words, settings, says: str, tmp_path: Path):
    with pytest.raises(UsageError, match=says):
        seal.retrieve(*words, out=tmp_path / "out", **settings)
    assert list(tmp_path.glob("*out*")) == []


def test_a_pool_without_tasks_is_refused(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", [])
    with pytest.raises(DataError, match="holds no task"):
        seal.retrieve(pool, "tfidf")


def test_a_size_beyond_one_of_several_pools_is_left_out_there(tmp_path: Path):
    pools = [large_pool(tmp_path / "a", 40), large_pool(tmp_path / "b", 20)]
    found = seal.retrieve(pools, "tfidf", k=3, pool_sizes=(10, 30), samples=2).content

    sizes = [(entry["pool"], entry["size"]) for entry in found["results"]]
    assert sizes == [("a", 10), ("a", 30), ("b", 10)]
    assert found["notes"][0] == "b has 20 tools: no pools of 30 were drawn"


def test_no_folder_that_holds_something_takes_an_experiment(pool: Path, tmp_path: Path):
    with pytest.raises(
        UsageError, match=r"holds no experiment in retrieval \(but 'pool'\); give --out a new"
    ):
        seal.retrieve(pool, "tfidf", k=1, out=tmp_path)

    out = tmp_path / "out"
    seal.retrieve(pool, ["tfidf", "random"], k=1, out=out)
    before = contents(out)
    with pytest.raises(UsageError, match="holds an experiment in retrieval already; add --resume"):
        seal.retrieve(pool, "tfidf", k=1, out=out)
    assert contents(out) == before
    assert [path.name for path in tmp_path.rglob(".*")] == []


@pytest.mark.slow
def test_an_interrupted_experiment_goes_on_with_what_was_measured(pool: Path, tmp_path: Path):
    asked = {"pools": [pool, pool], "retrievers": ["tfidf", "random"], "k": (1, 3)}
    drawn = {"pool_sizes": (2, "all"), "samples": 2, "distractors": "uniform"}
    whole = seal.retrieve(**asked, **drawn, out=tmp_path / "whole").content
    out = tmp_path / "out"

    def interrupt(stage: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        seal.retrieve(**asked, **drawn, out=out, progress=interrupt)
    begun = orjson.loads((out / "results.json").read_bytes())
    assert (begun["results"], begun["notes"]) == (
        [],
        ["it is not finished: the same command with --resume goes on"],
    )
    kept = (out / "measured.jsonl").read_bytes()
    assert kept.count(b"\n") == 6
    (out / "measured.jsonl").write_bytes(kept[:-20])  # as a process that was killed leaves it
    with pytest.raises(UsageError, match="add --resume"):
        seal.retrieve(**asked, **drawn, out=out)
    with pytest.raises(UsageError, match=r"protocol.k: was \[1, 3\], is \[1, 2\]"):
        seal.retrieve(**{**asked, "k": (1, 2)}, **drawn, out=out, resume=True)
    assert (out / "measured.jsonl").read_bytes() == kept[:-20]

    assert seal.retrieve(**asked, **drawn, out=out, resume=True).content == whole
    assert contents(out) == contents(tmp_path / "whole")
    assert seal.retrieve(**asked, **drawn, out=out, resume=True).content == whole


def test_the_results_come_after_all_other_files(pool: Path, tmp_path: Path):
    out = tmp_path / "out"
    in_the_way = lambda *_: (out / "figures").touch()  # noqa: E731
    with pytest.raises(FileExistsError):
        seal.retrieve(pool, "tfidf", k=1, out=out, progress=in_the_way)
    assert (out / "results.csv").is_file()
    assert orjson.loads((out / "results.json").read_bytes())["results"] == []
    (out / "figures").unlink()
    seal.retrieve(pool, "tfidf", k=1, out=out, resume=True)
    assert any((out / "figures").glob("*.svg"))
    assert not (out / "measured.jsonl").exists()


def test_the_folder_one_stands_in_takes_an_experiment(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    seal.retrieve(pool, "random", k=1, out=".")
    assert {path.name for path in here.glob("pool-*")} == {"pool-random"}
    assert (Path.cwd() / "results.csv").is_file()


def test_a_second_experiment_in_one_folder_is_refused(pool: Path, tmp_path: Path):
    out = tmp_path / "out"

    def meanwhile(stage: str, done: int, total: int) -> None:
        with pytest.raises(UsageError, match=f"this process .pid {os.getpid()}. is writing"):
            seal.retrieve(pool, "random", k=1, out=out)

    seal.retrieve(pool, "tfidf", k=1, out=out, progress=meanwhile)
    assert {path.name for path in out.glob("pool-*")} == {"pool-tfidf"}


def test_an_option_may_be_meant_for_one_of_several_retrievers(pool: Path):
    options = {"template": "name"}
    assert seal.retrieve(pool, ["oracle", "tfidf"], k=1, options=options).content["results"]
    with pytest.raises(UnknownNameError, match="no option -R of oracle 'foo'"):
        seal.retrieve(pool, ["oracle", "tfidf"], k=1, options={"foo": 1})


def test_settings_put_numbers_in_order():
    settings = RetrievalSettings(k=(10, 1, 10), pool_sizes=("all", 50, 10))
    assert settings.k == (1, 10)
    assert settings.pool_sizes == (10, 50, "all")


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        (lambda queries: None, "got None"),
        (lambda queries: 5, "got 5"),
        (lambda queries: {"a": 1.0}, "got {'a': 1.0}"),
        (lambda queries: [None for _ in queries], "got None"),
        (lambda queries: [["ab"] for _ in queries], "got 'ab'"),
        (lambda queries: [[("small/news/get", "high")] for _ in queries], "'high'"),
        (lambda queries: [[(1, 0.5)] for _ in queries], "got (1, 0.5)"),
        (lambda queries: [[("small/news/get", 0.5, 1)] for _ in queries], "0.5, 1"),
    ],
)
def test_what_is_no_ranking_is_told_by_what_was_expected(pool: Path, answer, got: str):
    class Wrong(First):
        def retrieve(self, queries, k):
            return answer(queries)

    (entry,) = seal.retrieve(pool, Wrong, k=1).content["results"]
    expected = "retriever Wrong: expected one list of (tool id, score) per query, "
    assert entry["unavailable"].startswith(expected)
    assert got in entry["unavailable"]


@pytest.mark.parametrize("distractors", ["uniform", "same_tool", "nearest"])
def test_pools_without_distractors_are_told(tmp_path: Path, distractors: str):
    pool = large_pool(tmp_path / "pool")
    found = seal.retrieve(
        pool, "tfidf", pool_sizes=(20,), samples=2, distractors=distractors
    ).content
    (note,) = found["notes"]
    assert note.startswith(f"no drawn pool holds a distractor, so --distractors {distractors} has")
    assert "--queries-in fixed with several --pool-sizes" in note


def test_a_retriever_that_was_given_twice_is_told(pool: Path):
    given = ["tfidf", "bm25,k1=1.2", "tfidf", "bm25,k1=1.6"]

    (note,) = seal.retrieve(pool, given).content["notes"]
    assert note == "retriever tfidf was given 2 times: it is compared with itself"


def test_the_repair_of_pools_without_distractors_draws_them(tmp_path: Path):
    pool, out = large_pool(tmp_path / "pool"), tmp_path / "out"
    drawn = {"pool_sizes": (8, 20, "all"), "samples": 2, "queries_in": "fixed"}
    found = measured([pool], ["tfidf"], out, **drawn)

    assert found["notes"] == []
    lines = [orjson.loads(line) for line in (out / "draws.jsonl").read_bytes().splitlines()]
    assert [line.get("distractors") for line in lines] == [0, 0, 12, 12, None]
    assert [len(line.get("tools", ())) for line in lines] == [8, 8, 20, 20, 0]
    assert set(lines[0]["tools"]) <= set(lines[2]["tools"])


def test_a_size_that_is_the_pools_own_is_measured_once_as_the_whole_is(tmp_path: Path):
    pool = large_pool(tmp_path / "pool")
    asked = seal.retrieve(pool, "tfidf", k=3, pool_sizes=(40, "all"), samples=3)
    own, whole = asked.content["results"]
    assert (own["samples"], own["queries"]) == (whole["samples"], whole["queries"]) == (1, 50)
    assert own["metrics"]["recall@3"]["mean"] == whole["metrics"]["recall@3"]["mean"]
    assert own["metrics"]["recall@3"]["deviation"] is None
    asked = seal.retrieve(pool, "tfidf", pool_sizes=(40,), samples=3, queries=5)
    (drawn,) = asked.content["results"]
    assert drawn["samples"] == 3


def test_one_query_is_an_integer_and_told_in_the_singular(tmp_path: Path):
    found = seal.retrieve(large_pool(tmp_path / "pool"), "tfidf", limit=1).content
    assert repr(found["results"][0]["queries"]) == "1"
    assert next(retrieval_tables(found)).endswith(": 40 tools, 1 query")


def test_whole_pools_need_no_distractors(tmp_path: Path):
    assert seal.retrieve(large_pool(tmp_path / "pool"), "tfidf").content["notes"] == []


def test_precision_and_tokens_follow_from_the_ranking() -> None:
    found = seal.retrieve("sample", ["oracle", "tfidf,tokens=400"], (1, 20))
    oracle, budget = found.results
    assert oracle["precision@1"].mean == oracle["mrr@1"].mean == 1.0
    assert 0 < budget["tokens@20"].mean <= 400
    assert budget["precision@20"].mean > budget["recall@20"].mean / 20


def test_what_an_earlier_version_began_without_a_setting_that_is_gone_goes_on(
    pool: Path, tmp_path: Path
) -> None:
    asked = {"pools": pool, "retrievers": "bm25", "k": 1, "out": tmp_path / "out"}
    seal.retrieve(**asked)
    file = tmp_path / "out" / "results.json"

    def began(perturb: list[str]) -> None:
        content = orjson.loads(file.read_bytes())
        content["protocol"]["perturb"] = perturb
        file.write_bytes(orjson.dumps(content))

    began([])
    assert seal.retrieve(**asked, resume=True).results
    began(["typos"])
    with pytest.raises(UsageError, match="perturb: was"):
        seal.retrieve(**asked, resume=True)


def test_queries_that_match_nothing_and_equal_scores_are_told_with_their_share():
    tools = [Tool(f"p/t/{n:02}", f"tool{n}", "does a thing") for n in range(12)]
    tools.append(Tool("p/t/99", "weather", "rain and wind"))
    asked = {"\U0001f389": "p/t/00", "a thing": "p/t/01", "rain": "p/t/99"}
    tasks = [
        Task(f"q{n}", "p", (Goal(text, relevant=(tool,)),))
        for n, (text, tool) in enumerate(asked.items())
    ]

    found = seal.retrieve(tasks, "bm25", k=10, tools=tools)

    [entry] = found.content["results"]
    assert entry["unmatched"] == entry["tied"] == {"queries": 1, "of": 3}
    assert entry["metrics"]["recall@10"]["mean"] == pytest.approx(2 / 3)
    assert "bm25, 13 tools: it names no tool for 1 of 3 queries (33.3%)" in found.table()


def test_the_values_of_each_query_are_a_table_whose_means_are_the_results(tmp_path: Path):
    tasks = [*many(4), Task('odd, "1"', "b", (Goal("convert money", relevant=(TOOLS[2].id,)),))]
    found = seal.retrieve(
        write_pool(tmp_path / "pool", tasks), "tfidf", k=(1, 3), out=tmp_path / "out"
    )

    with (tmp_path / "out" / "pool-tfidf" / "queries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    assert [(row["task"], row["goal"]) for row in rows][-1] == ('odd, "1"', "0")
    for name in ("recall@1", "map@3", "rprec@3", "tokens@3"):
        assert mean(float(row[name]) for row in rows) == pytest.approx(found.results[0][name].mean)
