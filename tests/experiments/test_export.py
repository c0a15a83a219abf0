"""Pools and runs in the forms of others, and read back."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.api.benchmarks import export, import_benchmark, load_pool
from seal.core import DataError, UnknownNameError, UsageError
from seal.experiments.annotation import LABEL, export_items
from seal.experiments.export import Writer
from seal.pools.importer import REGISTRY
from seal.retrievers.base import documents
from seal.runs.run import RunFolder


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def shop() -> seal.Benchmark:
    def get_order(order_id: str) -> dict[str, str]:
        """Look an order up."""
        return {"ships": "Monday"}

    def cancel(order_id: str, why: str = "") -> str:
        """Cancel an order."""
        return "cancelled"

    look, undo = seal.called("get_order", order_id="7"), seal.called("cancel", order_id="7")
    tasks = [
        seal.ask("When does order 7 ship?", look, answer="Monday", id="one", tags={"kind": "a"}),
        seal.ask("Look at order 7, then cancel it.", look, undo, in_order=True, id="two"),
        seal.ask("Hello!", needs_no_tool=True, id="three"),
        seal.ask("What now?", id="four", system="Today is Friday."),
    ]
    return seal.Benchmark("shop", tools=[get_order, cancel], tasks=tasks)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    seal.run(shop(), model="oracle", baselines=False, out=tmp_path / "run")
    return tmp_path / "run"


def test_a_data_set_of_rows_is_read_back_as_it_was(tmp_path: Path) -> None:
    made = export(shop(), "hf", tmp_path / "hf", licence="CC0-1.0")
    columns = {"query": "query", "calls": "calls", "answer": "answer", "id": "id"}
    again = seal.Benchmark.of(
        "shop", tmp_path / "hf/tools.jsonl", tmp_path / "hf/tasks.jsonl", columns
    )

    assert made.counts == {"tools": 2, "queries": 4}
    asked = {task.id: task.goals[0] for task in shop()._tasks}
    for task in again._tasks:
        goal, before = task.goals[0], asked[task.id]
        assert (goal.text, goal.answers) == (before.text, before.answers)
        assert (goal.plans is None) == (before.plans is None)
        assert [c.canonical_arguments() for p in goal.plans or () for c in p.calls()] == [
            c.canonical_arguments() for p in before.plans or () for c in p.calls()
        ]
    assert [task.system for task in again._tasks] == ["", "", "", "Today is Friday."]
    card = (tmp_path / "hf/README.md").read_text()
    assert 'license_name: "CC0-1.0"' in card
    assert "- source: shop; a pool of its user's own" in card


def test_hugging_face_loads_each_part_and_hands_its_rows_back(run: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    export(run, "hf", tmp_path / "hf")
    parts = {
        name: datasets.load_dataset(str(tmp_path / "hf"), name, cache_dir=str(tmp_path / "kept"))
        for name in ("tools", "tasks", "chats")
    }
    loaded = {name: part["train"] for name, part in parts.items()}
    assert {name: len(rows) for name, rows in loaded.items()} == {
        "tools": 2,
        "tasks": 4,
        "chats": 4,
    }
    columns = {"query": "query", "calls": "calls", "answer": "answer", "id": "id"}
    again = seal.Benchmark.of("shop", tmp_path / "hf/tools.jsonl", loaded["tasks"], columns)
    assert [task.id for task in again._tasks] == ["one", "two", "three", "four"]
    assert json.loads(loaded["chats"][0]["messages"])[0]["role"] == "user"


def test_retrieval_is_read_back_with_its_relevant_tools(tmp_path: Path) -> None:
    made = export(shop(), "beir", tmp_path / "beir")
    import_benchmark("beir", tmp_path / "beir", tmp_path / "pool")

    assert made.left_out == {"goals without relevant tools": 2}
    found = [task.goals[0] for task in load_pool(tmp_path / "pool").tasks()]
    assert [(goal.text, len(goal.relevant)) for goal in found] == [
        ("When does order 7 ship?", 1),
        ("Look at order 7, then cancel it.", 2),
    ]


def test_items_of_bfcl_are_read_back_and_hold_no_calls_that_wait(tmp_path: Path) -> None:
    made = export(shop(), "bfcl", tmp_path / "bfcl")
    import_benchmark("bfcl", tmp_path / "bfcl", tmp_path / "pool")

    assert made.counts == {"items": 2, "answers": 1}
    assert made.left_out.keys() == {
        "goals that are no single turn with gold arguments, all in one step"
    }
    tasks = {task.id: task.goals[0] for task in load_pool(tmp_path / "pool").tasks()}
    (call,) = tasks["one"].plans[0].calls()
    assert call.canonical_arguments() == {"order_id": "7"}
    assert tasks["three"].plans[0].calls() == []


def test_a_benchmark_may_declare_a_form(tmp_path: Path, monkeypatch) -> None:
    def questions(to: Writer) -> None:
        to.read_back = "People read it."
        to.lines("questions.jsonl", "questions", (goal.text for _, _, goal in to.goals()))

    paper = seal.Benchmark("paper", exports={"sheet": questions})
    monkeypatch.setitem(REGISTRY._registered, "paper", paper)
    made = export(shop(), "sheet", tmp_path / "sheet")
    assert (made.files, made.counts) == (["questions.jsonl", "README.md"], {"questions": 4})
    assert (tmp_path / "sheet/README.md").read_text().endswith("\nPeople read it.\n")
    with pytest.raises(UnknownNameError, match=r"no form of export 'shet'; .*Did you mean 'sheet'"):
        export(shop(), "shet", tmp_path / "no")
    monkeypatch.setitem(paper.exports, "blank", lambda to: None)
    with pytest.raises(UsageError, match="nothing of shop can be said in the form blank: it wrote"):
        export(shop(), "blank", tmp_path / "no")


def test_chats_of_a_run_hold_what_was_said_and_called(tmp_path: Path, run: Path) -> None:
    export(run, "openai", tmp_path / "openai")
    first, second, *_ = lines(tmp_path / "openai/chats.jsonl")

    roles = [message["role"] for message in first["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]
    (call,) = first["messages"][1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"order_id": "7"}
    assert first["messages"][2]["tool_call_id"] == call["id"]
    assert [tool["function"]["name"] for tool in first["tools"]] == ["get_order", "cancel"]
    assert [m["role"] for m in second["messages"]].count("tool") == 2


def test_gold_chats_stop_where_results_are_not_known(tmp_path: Path) -> None:
    made = export(shop(), "openai", tmp_path / "openai")
    one, two = lines(tmp_path / "openai/chats.jsonl")

    assert made.left_out == {"goals without gold calls": 2}
    assert [message["role"] for message in one["messages"]] == ["user", "assistant"]
    assert len(two["messages"][1]["tool_calls"]) == 1


def test_runs_give_their_rankings_and_calls(tmp_path: Path, run: Path) -> None:
    seal.run("sample", limit=2, baselines=False, out=tmp_path / "sample")
    ranked = export(tmp_path / "sample", "trec", tmp_path / "trec")
    called = export(run, "bfcl", tmp_path / "bfcl")

    assert ranked.licence == "Apache-2.0"
    assert (tmp_path / "trec/run.trec").read_text().split()[1] == "Q0"
    assert called.counts["results"] == 2
    (result,) = lines(tmp_path / "bfcl/result/BFCL_v4_multiple_result.json")
    assert result == {"id": "one", "result": [{"get_order": '{"order_id":"7"}'}]}


def test_the_rankings_of_a_run_come_back_as_they_were(tmp_path: Path) -> None:
    run = seal.run("sample", first=20, baselines=False, retriever="bm25", out=tmp_path / "run")

    export(tmp_path / "run", "trec", tmp_path / "trec")

    [back] = seal.retrieve(
        "sample", f"trec,file={tmp_path / 'trec/run.trec'}", k=[5, 10], first=20
    ).results
    for metric in ("recall", "mrr", "ndcg", "all_found"):
        for k in (5, 10):
            assert back[f"{metric}@{k}"].mean == pytest.approx(run[f"{metric}@{k}"].mean)


def test_gold_without_any_plan_asks_for_no_call(tmp_path: Path) -> None:
    pool = Path(shop().save(tmp_path / "pool"))
    asked = [
        {**task, "goals": [{**task["goals"][0], "plans": []}]}
        for task in lines(pool / "tasks.jsonl")
    ]
    (pool / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in asked))

    assert export(pool, "bfcl", tmp_path / "bfcl").counts["items"] == 4
    export(pool, "hf", tmp_path / "hf")
    assert {row["calls"] for row in lines(tmp_path / "hf/tasks.jsonl")} == {"[]"}
    with pytest.raises(UsageError, match="goals without gold calls: 4"):
        export(pool, "openai", tmp_path / "openai")


def test_triplets_hold_a_query_its_tool_and_hard_negatives(tmp_path: Path) -> None:
    made = export("sample", "triplets", tmp_path / "one")
    several = export("sample", "triplets", tmp_path / "two", negatives=2, negatives_by="bm25")

    one, two = (lines(tmp_path / name / "triplets.jsonl") for name in ("one", "two"))
    assert made.counts == {"triplets": len(one)}
    assert made.left_out == {"goals without relevant tools": 8}
    assert {tuple(row) for row in one} == {("anchor", "positive", "negative")}
    assert {tuple(row) for row in two} == {("anchor", "positive", "negative_1", "negative_2")}
    pool = load_pool("sample")
    texts = dict(zip((t.id for t in pool.tools()), documents(pool.tools()), strict=True))
    wanted = {g.text: {texts[i] for i in g.relevant} for t in pool.tasks() for g in t.goals}
    assert {(r["anchor"], r["positive"]) for r in one} == {
        (text, document) for text, several in wanted.items() for document in several
    }
    for row in (*one, *two):
        taken = [text for name, text in row.items() if name.startswith("negative")]
        assert wanted[row["anchor"]].isdisjoint(taken)
        assert len({*taken}) == len(taken)
    assert several.files == ["triplets.jsonl", "README.md"]
    card = (tmp_path / "two" / "README.md").read_text()
    assert "2 hard negatives a line, " in card and " found by bm25, " in card


def test_a_tool_that_one_of_equal_queries_needs_is_a_negative_of_none(tmp_path: Path) -> None:
    look, undo = seal.called("get_order", order_id="7"), seal.called("cancel", order_id="7")
    tasks = [seal.ask("Cancel it.", look, id="one"), seal.ask("cancel it!", undo, id="two")]
    tools = [*shop().tools, {"name": "refund", "description": "Pay money back."}]
    export(tasks, "triplets", tmp_path / "out", tools=tools)
    first, second = lines(tmp_path / "out" / "triplets.jsonl")
    assert first["anchor"] == second["anchor"] == "Cancel it."
    assert "Look an order up." in first["positive"]
    assert "Cancel an order." in second["positive"]
    assert first["negative"] == second["negative"]
    assert "Pay money back." in first["negative"]


def test_triplets_are_equal_under_one_seed_alone(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        export("toolsandbox-sample", "triplets", tmp_path / name, negatives=20, seed=seed)
    first, again, other = (
        (tmp_path / name / "triplets.jsonl").read_bytes() for name in ("a", "b", "c")
    )
    assert first == again != other


def test_the_loader_of_sentence_transformers_reads_triplets(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    export("sample", "triplets", tmp_path / "out")
    file, kept = tmp_path / "out" / "triplets.jsonl", tmp_path / "kept"
    rows = datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=str(kept))
    assert rows.column_names == ["anchor", "positive", "negative"]
    assert rows[0] == lines(file)[0]


@pytest.mark.parametrize("left", [0, 3])
@pytest.mark.parametrize("to", ["hf", "inspect", "openai", "trec"])
def test_a_run_that_was_cut_is_refused(run: Path, tmp_path: Path, to: str, left: int) -> None:
    path = run / "trajectories.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:left]))
    says = f"trajectories.jsonl was cut: it has {left} of the 4 lines .* --resume --out "
    with pytest.raises(DataError, match=says):
        export(run, to, tmp_path / "out")
    with pytest.raises(DataError, match=says):
        export_items(RunFolder(run), LABEL, tmp_path / "sheet.csv")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("to", "options", "error", "says"),
    [
        ("triplets", {"negatives": 0}, UsageError, "--negatives 0: expected a whole number"),
        ("triplets", {"negatives": 64}, DataError, "--negatives 64: pool sample has "),
        ("triplets", {"negatives_by": "nope"}, UnknownNameError, "no retriever 'nope'"),
        ("triplets", {"negatives_by": "oracle"}, UsageError, "it reads gold"),
        ("triplets", {"seed": 1 << 70}, UsageError, "at most 18 digits"),
        ("triplets", {"negatives": "2"}, UsageError, "negatives: expected a whole number or None"),
        ("hf", {"negatives": 2}, UsageError, "--to hf: only triplets have hard negatives"),
        ("hf", {"seed": 2}, UsageError, "leave out --negatives, --negatives-by and --seed"),
    ],
)
def test_negatives_that_cannot_be_are_refused(
    tmp_path: Path, to: str, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error) as failed:
        export("sample", to, tmp_path / "out", **options)
    assert says in str(failed.value)
    assert not (tmp_path / "out").exists()


def test_a_pool_without_relevant_tools_has_no_triplets(tmp_path: Path) -> None:
    bare = seal.Benchmark("bare", tools=[{"name": "go"}], tasks=[seal.ask("Go.")])
    with pytest.raises(UsageError, match="in the form triplets: goals without relevant tools: 1"):
        export(bare, "triplets", tmp_path / "out")


def test_what_a_form_cannot_hold_is_refused_and_nothing_is_overwritten(tmp_path: Path) -> None:
    bare = seal.Benchmark("bare", tools=[{"name": "go"}], tasks=[seal.ask("Go.")])
    with pytest.raises(
        UsageError, match="can be said in the form openai: goals without gold calls: 1"
    ):
        export(bare, "openai", tmp_path / "bare")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds something; choose a new folder"):
        export(shop(), "hf", tmp_path / "full")


def test_an_export_stands_under_its_name_when_it_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / ".hf.999999999-1.part").mkdir(parents=True)  # of a process that was killed
    (out / ".hf.999999999-1.part" / "tools.jsonl").touch()
    made = export(shop(), "hf", out)
    assert {path.name for path in out.iterdir()} == {*made.files, "README.md"}


def test_a_run_is_a_log_of_inspect_ai(run: Path, tmp_path: Path) -> None:
    made = export(run, "inspect", tmp_path / "log")

    log = json.loads((tmp_path / "log" / made.files[0]).read_text())
    assert made.counts == {"chats": 4}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d_[A-Za-z0-9.-]+\.json", made.files[0])
    assert (log["version"], log["status"], log["eval"]["model"]) == (2, "success", "oracle")
    means = {one["name"]: one["metrics"]["mean"]["value"] for one in log["results"]["scores"]}
    assert means["call_f1"] == 1.0
    assert next(iter(means)) == "pass_rate"
    first, second, third, fourth = log["samples"]
    assert (first["id"], first["epoch"], first["target"]) == ("one", 1, ["Monday"])
    assert first["scores"]["call_f1"] == {
        "value": 1.0,
        "answer": "Monday",
        "explanation": None,
        "metadata": {},
    }
    assert [message["role"] for message in first["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    called = [event for event in second["events"] if event["event"] == "tool"]
    assert [event["function"] for event in called] == ["get_order", "cancel"]
    assert called[0]["arguments"] == {"order_id": "7"}
    assert fourth["metadata"]["undefined"]["call_f1"] == "no gold calls annotated"
    assert "call_f1" not in fourth["scores"]
    assert third["metadata"]["stops"] == ["done"]


def test_a_log_is_read_by_inspect_ai(run: Path, tmp_path: Path) -> None:
    read = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    export(run, "inspect", tmp_path / "log")
    (listed,) = read.list_eval_logs(str(tmp_path / "log"))  # as `inspect view` lists them
    log = read.read_eval_log(listed.name)
    assert [sample.id for sample in log.samples] == ["one", "two", "three", "four"]
    assert log.samples[0].scores["call_f1"].value == 1.0
    kinds = [event.event for event in log.samples[1].events]
    assert kinds.count("tool") == 2


def test_a_pool_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no run, and a log of inspect_ai is of one"):
        export(shop(), "inspect", tmp_path / "log")
    assert not (tmp_path / "log").exists()


def test_a_list_of_tasks_and_a_run_are_exported(tmp_path: Path) -> None:
    def get_order(order_id: str) -> dict[str, str]:
        """Look an order up."""
        return {"ships": "Monday"}

    task = seal.ask("When does order 7 ship?", seal.called("get_order", order_id="7"))
    made = export([task], "hf", tmp_path / "hf", tools=[get_order])
    assert made.counts["tools"] == 1
    assert repr(made).splitlines() == [
        f"exported as hf to {tmp_path / 'hf'}",
        "tools: 1",
        "queries: 1",
        "files: tools.jsonl, tasks.jsonl, README.md",
    ]
    with pytest.raises(UsageError, match="a Findings has no picture: print it"):
        seal.lint([task], tools=[get_order]).plot()
    run = seal.run([task], tools=[get_order], model="oracle", baselines=False, out=tmp_path / "run")
    assert export(run, "openai", tmp_path / "openai").counts["chats"] == 1
