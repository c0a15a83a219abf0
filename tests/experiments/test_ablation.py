"""Ablations end to end on small pools: real runs, a real server, real interruptions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import Answer, Received, failure
from small_pools import TOOLS, by_server, many, weather_goal, weather_task, write_pool

import seal
from seal.core import DataError, Goal, Plan, Task, Tool, UnknownNameError, UsageError

OFFLINE = {"model": "lexical", "workers": 1}
ERRING = {**OFFLINE, "model_options": {"slips": 1.0}}


def entry(content: dict[str, Any], metric: str, run: str = "") -> dict[str, Any]:
    """Return the first comparison of a metric, of the run where it is named."""
    found = (e for e in content["comparisons"] if e["metric"] == metric)
    return next(e for e in found if run in ("", e["run"]))


def test_feedback_lets_a_model_that_errs_repair_its_calls(tmp_path: Path, pool: Path) -> None:
    out = tmp_path / "d"
    done = seal.ablate("feedback", pool, out=out, **ERRING)
    recall = entry(done.content, "all_gold_calls")
    assert (recall["run"], recall["other"]) == ("on", "off")
    assert (recall["mean"], recall["other_mean"], recall["n"]) == (1.0, 0.0, 4)
    recovery = entry(done.content, "recovery")
    assert recovery["mean"] in (None, 1.0)
    assert recall["p_holm"] is not None
    assert recovery["p_holm"] is None  # whoever errs less often has more of it
    assert done.exit_code == 0
    assert json.loads((out / "comparison.json").read_bytes()) == {
        **done.content,
        "notes": [],
    }
    measures = [done.runs[name].folder.manifest()["measure"] for name in ("on", "off")]
    assert [measure.pop("feedback") for measure in measures] == ["on", "off"]
    assert measures[0] == measures[1]


def test_without_errors_feedback_changes_nothing(tmp_path: Path, pool: Path) -> None:
    done = seal.ablate("feedback", pool, out=tmp_path / "d", **OFFLINE)
    told = [e for e in done.content["comparisons"] if e["n"]]
    assert told
    assert all((e["difference"], e["p_holm"] or 1.0) == (0.0, 1.0) for e in told)


@pytest.mark.slow
def test_equal_ablations_are_equal_bytes_and_a_finished_one_is_not_played_again(
    tmp_path: Path, pool: Path
) -> None:
    for name in "ab":
        seal.ablate("react", pool, out=tmp_path / name, **ERRING)
    first = (tmp_path / "a" / "comparison.json").read_bytes()
    assert first == (tmp_path / "b" / "comparison.json").read_bytes()
    kept = (tmp_path / "a" / "plain" / "timings.jsonl").read_bytes()
    seal.ablate("react", pool, out=tmp_path / "a", resume=True, **ERRING)
    assert (tmp_path / "a" / "comparison.json").read_bytes() == first
    assert (tmp_path / "a" / "plain" / "timings.jsonl").read_bytes() == kept


@pytest.mark.slow
def test_formats_of_a_server_have_tokens_per_call(
    tmp_path: Path, pool: Path, model_server: Callable[..., Any], monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    server = model_server(by_server)
    settings = {"model": "openai/x", "base_url": server.url, "first": 2, "workers": 1}
    done = seal.ablate("format", pool, out=tmp_path / "d", **settings)
    assert [row["condition"] for row in done.content["runs"]] == ["native", "action", "json"]
    assert len({(e["run"], e["other"]) for e in done.content["comparisons"]}) == 3
    native = done.content["runs"][0]["metrics"]["tokens_in_per_call"]
    assert native["mean"] > 0
    tokens = entry(done.content, "tokens_in_per_call")
    assert tokens["excluded"] == {"action: no call was made": 2}


def test_retrievers_are_conditions(tmp_path: Path, pool: Path) -> None:
    names = ["oracle", "bm25,k1=2"]
    done = seal.ablate("retriever", pool, retrievers=names, out=tmp_path / "d", **OFFLINE)
    assert done.content["protocol"]["conditions"] == ["oracle", "bm25_k1=2"]
    assert entry(done.content, "recall@10")["mean"] == 1.0


@pytest.fixture
def irrelevant(tmp_path: Path) -> Path:
    """A pool of four answerable tasks, two that no tool serves, and one without a seed."""
    plain = Goal("Book me a table.", plans=(Plan(),), offered=(TOOLS[0].id,))
    made = [
        Task(
            f"i{number}",
            "small",
            (plain,),
            tags={"irrelevance": kind},
            metadata={"seed": seed},
        )
        for number, (kind, seed) in enumerate(
            [("unrelated_request", "rome-0"), ("foreign_parameter", "rome-0"), ("other", "gone")]
        )
    ]
    return write_pool(tmp_path / "irrelevant", [*many(4), *made])


def test_irrelevant_tasks_stand_beside_their_seeds(tmp_path: Path, irrelevant: Path) -> None:
    out = tmp_path / "d"
    done = seal.ablate("irrelevance", irrelevant, out=out, **OFFLINE)
    ids = [task.id for task in done.runs["answerable"].folder.tasks()]
    assert ids == ["rome-0"]
    abstained = entry(done.content, "abstained")
    assert (abstained["mean"], abstained["other_mean"], abstained["n"]) == (1.0, 0.0, 2)
    assert abstained["low"] is None  # both were made of one task
    kinds = {found["kind"]: found for found in done.content["kinds"]}
    assert sorted(kinds) == ["foreign_parameter", "other", "unrelated_request"]
    assert kinds["other"]["metrics"]["abstained"] == {
        "mean": 1.0,
        "low": None,
        "high": None,
        "n": 1,
    }
    assert kinds["other"]["without_seed"] == 1
    assert done.content["notes"][0].startswith("1 irrelevant task without a seed")


def test_a_limit_counts_irrelevant_tasks(tmp_path: Path, irrelevant: Path) -> None:
    done = seal.ablate("irrelevance", irrelevant, out=tmp_path / "d", limit=1, **OFFLINE)
    assert [row["tasks"] for row in done.content["runs"]] == [1, 1]


@pytest.fixture
def environments(tmp_path: Path) -> Path:
    """A pool of three categories, each with two goals."""
    tools, tasks = [], []
    for name in ("sea", "air", "land"):
        own = [
            Tool(f"small/{name}/{n}", f"get_{name}_{n}", f"The {name} of {n}.", category=name)
            for n in ("wind", "rain")
        ]
        tools += own
        goals = [
            weather_goal("Rome", plans=None, relevant=(), offered=(t.id,), reference=())
            for t in own
        ]
        tasks += [
            weather_task("Rome", len(tasks) + n, id=f"{name}{n}", goals=(goal,))
            for n, goal in enumerate(goals)
        ]
    return write_pool(tmp_path / "environments", tasks, tools)


@pytest.mark.slow
def test_similarity_has_a_point_for_each_environment(tmp_path: Path, environments: Path) -> None:
    out = tmp_path / "d"
    done = seal.ablate("similarity", environments, out=out, **ERRING)
    points = done.content["points"]
    assert [(p["environment"], p["tools"], p["goals"]) for p in points] == [
        ("air", 2, 2),
        ("land", 2, 2),
        ("sea", 2, 2),
    ]
    assert all(point["rates"]["any"]["n"] == 0 for point in points)  # no call, and no gold call
    assert (out / "figures" / "errors_over_similarity.svg").is_file()
    assert "J_avg and error rates by environment" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("what", "settings", "error", "says"),
    [
        ("feedbak", {}, UnknownNameError, "no ablation 'feedbak'.*Did you mean 'feedback'"),
        ("feedback", {"feedback": "on"}, UsageError, "feedback is what the ablation .* leave it"),
        (
            "react",
            {"roles": {"execution_manager": "react"}},
            UsageError,
            "the ablation react varies",
        ),
        ("retriever", {"retriever": "tfidf"}, UsageError, "name several by `retrievers`"),
        ("retriever", {"retrievers": ["tfidf"]}, UsageError, "needs at least two, got tfidf"),
        ("retriever", {"retrievers": ["bm25", "bm25"]}, UsageError, "bm25 stands twice"),
        ("retriever", {"retrievers": ["bm25", "tfid"]}, UnknownNameError, "mean 'tfidf'"),
        ("format", {"retrievers": ["bm25"]}, UsageError, "compares no retrievers"),
        ("irrelevance", {}, UsageError, "no selected task with the tag 'irrelevance'"),
        ("similarity", {}, UsageError, "has goals in 1 environment, .* at least 3"),
        ("similarity", {"metrics": ["nope"]}, UnknownNameError, "nope"),
        ("feedback", {"limits": 3}, UnknownNameError, "no setting 'limits'.*mean 'limit'"),
        ("feedback", {"resume": True, "out": None}, UsageError, "--resume needs --out DIR"),
    ],
)
def test_what_cannot_be_ablated_is_refused_before_anything_is_written(
    tmp_path: Path, pool: Path, what: str, settings: dict[str, Any], error: type, says: str
) -> None:
    out = tmp_path / "d"
    with pytest.raises(error, match=says):
        seal.ablate(what, pool, **{"out": out, **OFFLINE, **settings})
    assert not out.exists()


def test_irrelevant_tasks_without_seeds_are_refused(tmp_path: Path) -> None:
    tasks = [weather_task("Rome", tags={"irrelevance": "other"})]
    with pytest.raises(UsageError, match=r"none of 1 irrelevant task names by metadata\.seed"):
        seal.ablate("irrelevance", write_pool(tmp_path / "p", tasks), out=tmp_path / "d", **OFFLINE)


def test_a_folder_that_holds_other_things_is_left_alone(tmp_path: Path, pool: Path) -> None:
    def ablated(out: Path, what: str = "react", **settings: Any) -> None:
        seal.ablate(what, pool, out=out, **{**OFFLINE, "limit": 1, **settings})

    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is a file; give --out a folder"):
        ablated(tmp_path / "file")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds no ablation \(but 'notes.txt'\)"):
        ablated(tmp_path / "mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="holds a run and no ablation"):
        ablated(tmp_path / "run", resume=True)
    ablated(tmp_path / "d")
    with pytest.raises(UsageError, match="holds an ablation already; add --resume"):
        ablated(tmp_path / "d")
    with pytest.raises(
        UsageError, match=r"holds another ablation; protocol.ablation: was 'react', is 'feedback'"
    ):
        ablated(tmp_path / "d", "feedback", resume=True)
    (tmp_path / "d" / "comparison.json").write_text("[]")
    with pytest.raises(DataError, match="no ablation: expected an object"):
        ablated(tmp_path / "d", resume=True)


def test_errors_are_no_scores_and_a_resumed_ablation_plays_them_again(
    tmp_path: Path, pool: Path, model_server: Callable[..., Any], monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    broken = True

    def script(request: Received) -> Answer:
        return failure(400) if broken and "Oslo" in request.raw.decode() else by_server(request)

    server = model_server(script)
    settings = {"model": "openai/x", "base_url": server.url, "first": 2, "workers": 1}
    done = seal.ablate("feedback", pool, out=tmp_path / "d", **settings)
    assert done.exit_code == 1
    assert [row["errors"] for row in done.content["runs"]] == [1, 1]
    assert entry(done.content, "calls")["excluded"] == {"both: error": 1}
    broken = False
    again = seal.ablate("feedback", pool, out=tmp_path / "d", resume=True, **settings)
    assert again.exit_code == 0
    assert (entry(again.content, "calls")["n"], entry(again.content, "calls")["excluded"]) == (
        2,
        {},
    )


def test_a_budget_is_that_of_all_runs(
    tmp_path: Path, pool: Path, model_server: Callable[..., Any], monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    server = model_server(by_server)
    settings = {"model": "openai/x", "base_url": server.url, "workers": 1, "limit": 2}
    done = seal.ablate("react", pool, out=tmp_path / "d", max_total_tokens=40, **settings)
    assert done.exit_code == 3
    assert done.content["notes"][0].startswith("the budget is spent")
    assert done.content["comparisons"] == []
    whole = seal.ablate("react", pool, out=tmp_path / "d", resume=True, **settings)
    assert whole.exit_code == 0
    assert entry(whole.content, "calls")["n"] == 2
