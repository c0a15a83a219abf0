"""Every verb takes a benchmark that was made in memory, and what its runs gave."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from markupsafe import Markup
from query_writer import QueryWriter
from shops import CANCEL, count_orders, get_order, shop

import seal
from seal.api.benchmarks import load_pool
from seal.core import Goal, Milestone, Plan, Scale, Task, UnknownNameError, UsageError
from seal.core.state_conditions import StateHas
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.pools.own_files import gold_of
from seal.report.chat_pages import gold_lines
from seal.report.run_results import summary_notes

COUNT = Scale(bounded=False, higher_is_better=None)


class Remark:
    title = "Remark"

    def render(self, lanes):
        return Markup("<p>a remark of the shop</p>")


def brief(task, trajectory):
    return len(trajectory.answers[0] or "") < 1000


def own_shop() -> seal.Benchmark:
    return shop(metrics=[brief], success="brief", sections=[Remark()])


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))


def test_its_tools_are_retrieved_beside_those_of_a_named_benchmark():
    found = seal.retrieve([shop(), "sample"], "tfidf", k=1, limit=2)

    assert [result.pool for result in found.results] == ["shop", "sample"]
    assert found.of(pool="shop")["recall@1"].mean == 1.0


def test_its_dotted_path_stands_for_it_and_its_functions_run():
    run = seal.run("shops:SHOP", model="oracle", baselines=False, out="runs/dotted")

    assert (run["call_f1"].mean, run.folder.pool_name) == (1.0, "shop")
    assert "Monday" in run.calls["result"].iloc[0]
    for path in ("shops:get_order", "shops:nothing"):
        with pytest.raises(UsageError, match=path):
            seal.run(path, model="oracle")


def test_it_is_linted_in_the_world_that_it_brings():
    def switch(lamp: World, on: bool) -> str:
        """Switch the lamp.

        Args:
            on: True turns it on.
        """
        lamp.put("lamps", [{"on": on}])
        return "done"

    lamps = Worlds(
        name="lamps", tools=toolbox("lamps", [switch]), tables={"lamps": [{"on": False}]}
    )

    def task(table: str) -> Task:
        lit = StateHas(table, ({"on": True},))
        goal = Goal("Switch it on.", (Plan((Milestone(lit),)),))
        return Task("t", "", (goal,), world="lamps-of-mine")

    def findings(bench: seal.Benchmark) -> list[str]:
        return [finding.kind for finding in seal.lint(bench).findings]

    bench = seal.Benchmark("lamps-of-mine", environment=lamps, tasks=[task("lamps")])
    assert findings(bench) == []
    with pytest.raises(UsageError, match=r"task 't', .*no table 'bulbs'; known: lamps, message"):
        seal.Benchmark("lamps-of-mine", environment=lamps, tasks=[task("bulbs")])
    # Without the world nobody knows its tables, so a folder may name others.
    plain = seal.Benchmark("lamps-of-mine", tools=lamps.documents(), tasks=[task("bulbs")])
    assert findings(bench.at(plain.save("plain"))) == ["unmeasurable_plan"]


def test_lint_tries_gold_by_its_functions_and_runs_no_stranger_s():
    lost = seal.called("get_order", order_id="9")
    tasks = [
        seal.ask("Where is order 9?", lost, answer="nowhere"),
        seal.ask("Where is order 9?", seal.refused(lost), seal.called("count_orders")),
        seal.ask("Where is order 8?", seal.refused(seal.called("get_order", order_id="8"))),
        seal.ask("Cancel order 9", seal.called("cancel_order", order_id="9")),
    ]
    bench = shop(tasks=tasks)
    folder = bench.save("folder")

    def failing(what: object, **options: object) -> dict[str, str]:
        found = seal.lint(what, **options).findings
        return {one.tasks[0]: one.message for one in found if one.kind == "failing_call"}

    told = failing(bench)
    assert list(told) == ["shop-001", "shop-003"]
    assert "get_order(order_id=\"9\") fails: api: KeyError: '9'" in told["shop-001"]
    assert "is marked as refused, and works" in told["shop-003"]
    assert failing(tasks, tools=bench.tools).keys() == {"tasks-001", "tasks-003"}
    assert failing(folder) == {}  # nothing of it runs unless the user allows it
    assert failing(folder, allow_code=["shops"]).keys() == told.keys()


def test_it_is_augmented_and_played_so():
    assert seal.augment(shop(), "names", "scrambled").tasks == 2
    assert seal.run("scrambled", model="oracle", baselines=False)["call_f1"].mean == 1.0


def test_it_is_swept_and_ablated_and_planned():
    plan = seal.plan_run(shop(), model="oracle", baselines=False)
    swept = seal.sweep(shop(), pool_sizes=[2, "all"], samples=1, model="oracle", out="swept")
    ablation = seal.ablate("feedback", shop(), model="oracle", out="ablated")

    assert plan.chats == 2
    assert [point.size for point in swept.results] == [2, 3]
    assert {run["call_f1"].mean for run in ablation.runs.values()} == {1.0}


def test_a_list_of_tasks_with_its_tools_stands_for_it_in_every_verb():
    parts = {"tools": [get_order, count_orders, CANCEL]}
    tasks = [
        seal.ask("Where is order 7?", seal.called("get_order", order_id="7")),
        seal.ask("Cancel order 8", seal.called("cancel_order", order_id="8")),
    ]

    told, of_shop = seal.lint(tasks, **parts).findings, seal.lint(shop(tasks=tasks)).findings
    # A tool's id has the name of what it is in, and is named by a finding.
    assert [(one.kind, one.message) for one in told] == [(o.kind, o.message) for o in of_shop]
    assert seal.retrieve(tasks, "tfidf", k=1, **parts)["recall@1"].mean == 1.0
    assert len(seal.sweep(tasks, samples=1, agent="oracle", out="s", **parts).results) == 1
    ablation = seal.ablate("react", tasks, agent="oracle", out="a", **parts)
    assert {run["call_f1"].mean for run in ablation.runs.values()} == {1.0}
    assert seal.augment(tasks, "names", "scrambled", **parts).tasks == 2
    made = seal.generate("queries", tasks, "harder", model=QueryWriter(), **parts)
    assert made.report.tasks > 0


@pytest.mark.parametrize(
    "verb",
    [
        seal.lint,
        partial(seal.retrieve, retrievers="tfidf"),
        seal.sweep,
        partial(seal.ablate, "react"),
        partial(seal.generate, "queries", out="made", model="openai/any"),
        partial(seal.augment, augmentations="names", out="made"),
        seal.split,
        seal.plan_run,
    ],
)
def test_tasks_need_their_tools_and_a_benchmark_none_in_every_verb(verb: Callable[..., object]):
    task = seal.ask("Where is order 7?", seal.called("get_order", order_id="7"))
    with pytest.raises(UsageError, match="no tools: give tasks as a list, and their tools"):
        verb([task])
    with pytest.raises(UsageError, match="a benchmark has its own: leave them out"):
        verb("sample", tools=[get_order])


def test_an_ablation_tries_the_agent_that_is_given():
    def agent(request: str, tools: object) -> str:
        return "It ships on Monday."

    ablation = seal.ablate("feedback", shop(), agent=agent, out="ablated")

    chats = [chat for run in ablation.runs.values() for chat in run.folder.trajectories()]
    assert [chat.answers for chat in chats] == [("It ships on Monday.",)] * 4


def test_queries_are_made_of_its_tasks():
    made = seal.generate("queries", shop(), "harder", model=QueryWriter())
    assert made["tasks"] == len(list(load_pool("harder").tasks())) > 0
    lines = repr(made).splitlines()
    assert (lines[0], len(lines) <= 15) == ("generated: harder", True)
    assert "<td>tasks</td>" in made._repr_html_()
    with pytest.raises(KeyError, match=r"no entry 'task'.*Did you mean 'tasks'"):
        made["task"]


def test_missions_are_made_of_its_tools_by_a_model_alone():
    with pytest.raises(UsageError, match="name the model that writes the missions"):
        seal.generate("missions", shop(), "missions", limit=1)


@pytest.mark.parametrize(
    ("what", "options", "error", "told"),
    [
        (
            "mission",
            {},
            UnknownNameError,
            "known: missions, queries, scenarios. Did you mean",
        ),
        ("queries", {"kindz": 1}, UnknownNameError, "no setting 'kindz'.* Did you mean 'kinds'"),
        ("queries", {}, UsageError, "name the model that writes the queries"),
        ("tools", {}, UsageError, "generate tools is no more: write tools as `seal new"),
    ],
)
def test_what_cannot_be_generated_is_told(what, options, error, told):
    with pytest.raises(error, match=told):
        seal.generate(what, shop(), "made", **options)


def test_it_is_split_for_training_and_its_parts_keep_its_functions():
    bench = shop(
        tasks=[
            seal.ask("Where is my parcel?", seal.called("get_order", order_id="1")),
            seal.ask("Please cancel what I bought.", seal.called("cancel_order", order_id="2")),
            seal.ask("Has number three left the house?", seal.called("get_order", order_id="3")),
            seal.ask("I no longer want the lamp.", seal.called("cancel_order", order_id="4")),
        ]
    )

    parts = seal.split(bench, by="tool", test=1)

    assert parts["counts"] == {
        "train_tasks": 2,
        "test_tasks": 2,
        "train_tools": 1,
        "test_tools": 1,
        "left_out": {},
    }
    assert parts.test.functions.keys() == bench.functions.keys()
    assert seal.run(parts.test, model="oracle", out="run")["call_f1"].mean == 1.0


Given = Callable[[seal.Run], object]


@pytest.mark.parametrize(
    "given",
    [lambda run: run, lambda run: str(run.folder.path), lambda run: run.folder],
    ids=["run", "text", "folder"],
)
def test_a_run_of_it_is_explained_compared_and_reported(given: Given):
    bench = own_shop()
    one, other = (
        seal.run(bench, model=model, out=model, baselines=False) for model in ("oracle", "lexical")
    )

    assert seal.explain(given(one)).content["decided_by"] == {"brief": 2}
    assert seal.compare(given(one), given(other)).pairs[0].success == "brief"
    assert seal.report(given(one)) == one.folder.report_path
    assert seal.report([given(one), given(other)], "both.html") == Path("both.html")
    assert Path("both.html").read_text().count("a remark of the shop") == (given(one) is one)


def test_a_run_of_it_is_scored_again_with_its_own_metrics():
    run = seal.run(own_shop(), model="oracle", out="run", baselines=False)

    again = seal.score(run)

    assert again["brief"].n == 2
    assert "a remark of the shop" in again.report().read_text()


def lookups(task, trajectory):
    return {"lookups": len([*trajectory.calls()]), "words": len(trajectory.answers[0] or "")}


lookups.scales = {"lookups": COUNT, "words": COUNT}  # type: ignore[attr-defined]


@pytest.mark.parametrize("headline", [(), ("pass_rate",)])
def test_scores_stay_where_the_code_of_their_metric_is_not_known(
    headline: tuple[str, ...], caplog: pytest.LogCaptureFixture
):
    bench = shop(metrics=[brief], success="brief", sections=[Remark()], headline=headline)
    seal.run(bench, model="oracle", metrics=[lookups], out="run", baselines=False)
    before = Path("run/scores.jsonl").read_bytes()

    again = seal.score("run")  # the folder knows the metrics' names alone

    assert Path("run/scores.jsonl").read_bytes() == before
    assert {"brief", "lookups", "words"} <= {*again}
    assert f"{__name__}:lookups: not computed anew, the former scores stay" in caplog.text
    assert f"{__name__}:brief: not computed anew, the former scores stay" in caplog.text
    other = seal.run(bench, model="lexical", metrics=[lookups], out="other", baselines=False)
    assert seal.compare("run", other).pairs[0].success == "brief"
    assert "<html" in seal.report("run").read_text()


def test_a_metric_whose_code_is_allowed_is_computed_anew(caplog: pytest.LogCaptureFixture):
    run = seal.run(shop(), model="oracle", metrics=[lookups], out="run", baselines=False)
    lines = Path("run/scores.jsonl").read_text().splitlines(keepends=True)
    Path("run/scores.jsonl").write_text("".join(x for x in lines if "lookups" not in x))

    again = seal.score("run", allow_code=[__name__])

    assert (again["lookups"].mean, caplog.text) == (run["lookups"].mean, "")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (lambda: 1 / 0, r"failed: ZeroDivisionError: .*test_benchmark_verbs\.py.*mend it"),
        (lambda: "<b>plain</b>", r"returned '<b>plain</b>'; expected markupsafe\.Markup or None"),
        (lambda: 3, r"returned 3; expected markupsafe\.Markup"),
    ],
)
def test_a_section_that_fails_or_gives_no_html_is_named_with_its_benchmark(body, told):
    class Broken:
        title = "Broken part"

        def render(self, lanes):
            return body()

    run = seal.run(shop(sections=[Broken]), model="oracle", baselines=False)
    named = rf"the report section 'Broken part' of the benchmark shop {told}"
    with pytest.raises(UsageError, match=named):
        run.report()
    assert not run.folder.report_path.exists()


def test_a_report_of_no_run_is_refused():
    with pytest.raises(UsageError, match="a report of no run: give one run at least"):
        seal.report([])
    with pytest.raises(UsageError, match="expected a run, got 3"):
        seal.report(3)


def test_a_gold_call_that_fails_is_named_with_its_task(capsys: pytest.CaptureFixture[str]):
    def get_price(item: str) -> float:
        """Return a price.

        Args:
            item: Its name.
        """
        return {"tea": 3.0}[item]

    tasks = [
        seal.ask("What is tea?", seal.called("get_price", item="tea"), id="right"),
        seal.ask("What is oil?", seal.called("get_price", item="oil"), id="wrong"),
    ]
    bench = seal.Benchmark("prices", tools=[get_price], tasks=tasks)
    run = seal.run(bench, model="lexical", out="run")

    told = """task wrong: get_price({"item":"oil"}): KeyError: 'oil'"""
    assert run.baselines["ceiling"].summary["failed_gold"] == {told: 1}
    assert "failed_gold" not in run.summary
    warning = f"warning: 1 gold call failed when played; mend the gold or the tool: 1 ({told})"
    assert warning in summary_notes(run.folder)
    assert "warning: 1 gold call failed" in str(run)


def test_a_call_that_gold_marks_as_refused_is_no_fault_of_it():
    def get_price(item: str) -> float:
        """Tell what an item costs."""
        return {"tea": 2.5}[item]

    marked = seal.refused(seal.called("get_price", item="oil"))
    tasks = [
        seal.ask("What is oil?", marked, answer="none", id="marked"),
        seal.ask("What is ink?", seal.called("get_price", item="ink"), id="wrong"),
    ]
    bench = seal.Benchmark("prices", tools=[get_price], tasks=tasks)
    run = seal.run(bench, model="oracle", baselines=False, out="run")

    told = """task wrong: get_price({"item":"ink"}): KeyError: 'ink'"""
    assert run.summary["failed_gold"] == {told: 1}
    gold = bench._tasks[0].goals[0]
    assert gold_of(gold) == 'get_price(item="oil"), to be refused'
    assert gold_lines(gold)[0] == '0: prices/get_price(item="oil"), to be refused'


def test_a_call_of_gold_that_has_to_fail_is_no_fault_of_it():
    run = seal.run(
        "toolsandbox-sample",
        model="oracle",
        select={"group": "wifi_that_stays_off"},
        baselines=False,
        out="run",
    )
    assert "failed_gold" not in run.summary


def crashing(request, tools):
    for tool in tools:
        if tool.__name__ == "get_order":
            tool(order_id="7")
    raise ValueError("boom")


def test_a_chat_that_crashed_is_not_solved_by_calls_that_were_right():
    task = seal.ask("Look order 7 up.", seal.called("get_order", order_id="7"))
    bench = seal.Benchmark("orders", tools=[get_order], tasks=[task])
    run = seal.run(bench, agent=crashing, baselines=False, out="run")

    figures = [run[name].mean for name in ("param_acc_gold", "calls_right", "pass_rate")]
    assert figures == [1.0, 0.0, 0.0]
    (why,) = seal.explain(run).content["attributions"]
    assert (why["stage"], why["cause"]) == ("gave_up", "crashed")


def refusing(request, tools):
    return "I cannot do that with my tools."


def inventing(request, tools):
    return "It is done."


@pytest.mark.parametrize(
    ("agent", "solved", "failed", "undecided"),
    [(refusing, 1, 1, 0), (inventing, 1, 1, 0), (crashing, 0, 2, 0), ("oracle", 2, 0, 0)],
)
def test_what_no_tool_serves_is_decided_without_a_judge(agent, solved, failed, undecided):
    tasks = [
        seal.ask("Cancel my flight.", needs_no_tool=True, id="none"),
        seal.ask("Cancel my flight.", unanswerable=True, id="never"),
    ]
    bench = seal.Benchmark("orders", tools=[get_order], tasks=tasks)
    player = {"model": agent} if isinstance(agent, str) else {"agent": agent}
    why = seal.explain(seal.run(bench, **player, baselines=False, out="run")).content

    assert (why["solved"], why["failed"], why["undecided"]) == (solved, failed, undecided)
