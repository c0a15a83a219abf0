"""Published judges, votes, recorded verdicts, audits and win rates of whole runs."""

import csv
import json
from pathlib import Path

import pytest
from servers import failure, text
from small_pools import Weatherman, many, play, write_pool

import seal
from seal.benchmarks.toolbench.trajectories import read_verdicts
from seal.core import DataError, OutageError, UsageError
from seal.experiments.judging import audit_run, win_rate
from seal.experiments.settings import PreferenceSettings
from seal.report.judge_sections import judging_notes
from seal.runs.finished import rescore
from seal.runs.run import RunFolder
from seal.runs.settings import ScoreSettings

OTHER = {"name": "Finish", "arguments": '{"final_answer": "x"}'}
NAMED = {"max_tries": 1, "first_wait_s": 0.01}


@pytest.fixture
def played(pool: Path, tmp_path: Path) -> Path:
    return play(pool, tmp_path / "run", model=Weatherman()).folder.path


def scores(run: Path, metric: str):
    return [score for score in RunFolder(run).scores() if score.metric == metric]


def by_seed(labels):
    """Answer by turns of distinct seeds, so that votes differ and chats do not."""
    seeds: dict[int, int] = {}

    def script(request):
        seed = request.body["seed"]
        number = seeds.setdefault(seed, len(seeds)) % len(labels)
        return text(json.dumps({"verdict": labels[number], "reason": "r"}))

    return script


def test_votes_of_one_judge_give_majority_agreement_and_kappa(played, model_server):
    server = model_server(by_seed(["solved", "solved", "unsolved"]))
    summary = rescore(
        played, ScoreSettings(judge_model="openai/j", base_url=server.url, votes=3, workers=1)
    )

    details = scores(played, "pass_rate")[0].details
    assert (details["label"], details["solved"]) == ("solved", pytest.approx(2 / 3))
    assert [vote["label"] for vote in details["votes"]] == ["solved", "solved", "unsolved"]
    judging = summary["judging"]["pass_rate"]
    assert (judging["votes"], judging["judges"]) == (3, ["openai/j"])
    assert judging["agreement"] == {"openai/j": pytest.approx(1 / 3, abs=1e-6)}
    assert judging["kappa"] == -0.5  # P = 1/3, P_e = 5/9
    assert len({request.body["seed"] for request in server.received}) == 12


def test_several_models_vote_and_an_even_tie_is_unsure(played, model_server):
    def script(request):
        label = "solved" if request.body["model"] == "a" else "unsolved"
        return text(json.dumps({"verdict": label}))

    server = model_server(script)
    summary = rescore(
        played, ScoreSettings(judge_model=("openai/a", "openai/b"), base_url=server.url)
    )

    found = scores(played, "pass_rate")[0]
    assert (found.value, found.details["label"]) == (0.0, "unsure")
    assert found.details["reason"] == "the votes are tied: solved 1, unsolved 1"
    assert summary["judging"]["pass_rate"]["kappa"] == -1.0
    panel = RunFolder(played).manifest()["measure"]["judge"]["panel"]
    assert [one["model"] for one in panel] == ["openai/a", "openai/b"]


def test_a_judge_that_is_never_usable_leaves_the_others_their_kappa(played, model_server):
    def script(request):
        if request.body["model"] == "prose":
            return text("I like it.")
        label = "solved" if request.body["model"] == "a" else "unsolved"
        return text(json.dumps({"verdict": label}))

    server = model_server(script)
    judges = ("openai/a", "openai/b", "openai/prose")
    summary = rescore(played, ScoreSettings(judge_model=judges, base_url=server.url))
    judging = summary["judging"]["pass_rate"]
    assert (judging["kappa"], judging["kappa_votes"], judging["votes"]) == (-1.0, 2, 3)
    (line,) = (one for one in judging_notes(summary) if one.startswith("pass_rate"))
    assert "with 2 usable votes each" in line


def test_published_judges_ask_their_own_questions(played, model_server):
    def script(request):
        asked = request.body["messages"][0]["content"]
        if "One word" in asked or "one word" in asked:
            return text("Solved0304")
        if "carried out at all" in asked:
            return text(json.dumps({"verdict": "unsolvable"}))
        return text(json.dumps({"verdict": "unsure"}))

    server = model_server(script)
    judges = "tooleval,sopr,fac"
    summary = rescore(
        played, ScoreSettings(judge=judges, judge_model="openai/j", base_url=server.url)
    )

    means = {name: entry["mean"] for name, entry in summary["metrics"].items()}
    assert (means["tooleval"], means["sopr"], means["fac"]) == (1.0, 0.5, 1.0)
    assert means["pass_rate"] == 1.0  # by rule, for it was not asked for
    assert summary["judging"]["sopr"]["runs"] == [0.5] * 4
    assert scores(played, "tooleval")[0].details["hallucination"] is False


def test_rules_judge_by_every_published_rule_offline(played):
    summary = rescore(played, ScoreSettings(judge="pass_paper,tooleval,sopr,fac"))
    assert {summary["metrics"][m]["mean"] for m in ("tooleval", "sopr", "fac")} == {1.0}


def test_unusable_votes_are_counted_and_the_others_decide(played, model_server):
    def script(request):
        prose = request.body["model"] == "a"
        return text("9 out of 10" if prose else json.dumps({"verdict": "solved"}))

    server = model_server(script)
    summary = rescore(
        played, ScoreSettings(judge_model=("openai/a", "openai/b"), base_url=server.url)
    )

    assert summary["metrics"]["pass_rate"]["mean"] == 1.0
    assert summary["judging"]["pass_rate"]["unusable"] == 4
    assert summary["judging"]["pass_rate"]["lost"] == 0


def test_a_judge_that_is_down_is_an_error_and_never_a_score(played, model_server):
    asked = []

    def script(request):
        asked.append(request)
        return text("Hm.") if len(asked) == 1 else failure(500)

    server = model_server(script)
    how = {"judge": "sopr,fac", "judge_model": "openai/j", "model_options": NAMED, "workers": 1}
    summary = rescore(played, ScoreSettings(base_url=server.url, **how))

    assert summary["errors"] == 4
    assert summary["metrics"]["sopr"]["mean"] is None
    assert set(summary["metrics"]["fac"]["reasons"]) == {"infrastructure"}
    away = model_server(lambda request: failure(500))  # which has never answered
    before = (played / "scores.jsonl").read_bytes()
    with pytest.raises(OutageError, match=r"the scores of .* are left as they are: .*HTTP 500"):
        rescore(played, ScoreSettings(base_url=away.url, **how))
    assert (played / "scores.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"votes": 0}, "--votes 0"),
        ({"votes": 3}, "rules always vote alike"),
        ({"judge": "sopr,nobody"}, "it must be rule, llm or auto"),
        ({"judge_model": ("openai/a", "openai/a")}, "named twice"),
    ],
)
def test_judges_that_cannot_be_are_refused(played, options, said):
    with pytest.raises(UsageError, match=said):
        rescore(played, ScoreSettings(**options))


def verdict_file(path: Path, run: Path, labels=("Solved", "Unsure"), **changes) -> Path:
    """Write verdicts on a run's tasks in upstream's format."""
    answers = {t.task_id: t.answers[0] for t in RunFolder(run).trajectories()}
    content = {}
    for task in RunFolder(run).tasks():
        said = {"return_type": "give_answer", "final_answer": answers[task.id]}
        call = {"name": "Finish", "arguments": json.dumps(said), "response": ""}
        content[task.id] = {
            "query": task.goals[0].text,
            "final_step": f"Final step: {call!r}",
            "is_solved": {str(n): f"AnswerStatus.{label}" for n, label in enumerate(labels)},
            **changes,
        }
    path.write_text(json.dumps(content))
    return path


def test_recorded_verdicts_stand_for_a_judge(played, tmp_path):
    file = verdict_file(tmp_path / "v.json", played)
    summary = rescore(played, ScoreSettings(judge="pass_paper,sopr,tooleval,fac", verdicts=file))

    assert summary["metrics"]["sopr"]["mean"] == 0.75
    assert summary["judging"]["sopr"]["runs"] == [1.0, 0.5]
    assert summary["judging"]["sopr"]["deviation"] == 25.0
    assert summary["metrics"]["fac"]["reasons"] == {"no verdict recorded": 4}
    manifest = RunFolder(played).manifest()
    assert manifest["measure"]["judge"]["judge"] == "recorded/1"
    assert manifest["verdicts"]  # every run has its own file: no part of the measure


def test_a_recorded_label_off_the_scale_is_counted(played, tmp_path):
    file = verdict_file(tmp_path / "v.json", played, ["Solved", "Perhaps"])
    summary = rescore(played, ScoreSettings(judge="sopr", verdicts=file))

    assert (summary["metrics"]["sopr"]["mean"], summary["judging"]["sopr"]["unusable"]) == (1.0, 4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"query": "What else?"}, "none of its 4 queries"),
        ({"final_step": f"Final step: {OTHER!r}"}, "4 of 4 answers are not those of"),
        ({"is_solved": None}, "expected query .* and is_solved"),
        ({"is_solved": {"first": "x"}}, "no whole number"),
    ],
)  # fmt: skip
def test_verdicts_of_another_run_or_of_none_are_refused(played, tmp_path, changes, said):
    file = verdict_file(tmp_path / "v.json", played, **changes)
    with pytest.raises(DataError, match=said):
        rescore(played, ScoreSettings(judge="sopr", verdicts=file))


def test_audit_holds_a_judge_against_rules_and_people(played, tmp_path, model_server):
    server = model_server(
        lambda request: text(
            json.dumps({"verdict": "unsolved" if b"Oslo" in request.raw else "solved"})
        )
    )
    rescore(played, ScoreSettings(judge_model="openai/j", base_url=server.url))
    labels = tmp_path / "labels.csv"
    rows = [("rome-0", "unsolved"), ("oslo-1", "unsolved"), ("bern-2", "solved"), ("lima-3", "ok")]
    with labels.open("w", newline="") as lines:
        csv.writer(lines).writerows([("task_id", "label"), *rows])
    found = audit_run(RunFolder(played), labels)

    people, rules = found["pass_rate"]["people"], found["pass_rate"]["rules"]
    assert (people["n"], people["precision"], people["recall"]) == (3, 0.5, 1.0)
    assert [example["task"] for example in people["examples"]] == ["rome-0"]
    assert (rules["n"], rules["precision"], rules["recall"]) == (4, 1.0, 0.75)
    assert found["labels"]["problems"] == [
        "labels.csv, line 5: label 'ok': expected solved, unsolved, unsure"
    ]


def test_a_judge_by_rule_is_held_against_people_alone(played, tmp_path):
    with pytest.raises(UsageError, match="judged by rule, and rules always agree with themselves"):
        audit_run(RunFolder(played))
    labels = tmp_path / "labels.csv"
    labels.write_text("task_id,label\nrome-0,solved\n")
    assert audit_run(RunFolder(played), labels)["pass_rate"].keys() == {"people"}


def test_labels_of_another_run_are_refused(played, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("task_id,label\nparis-9,solved\n")
    with pytest.raises(DataError, match="labels of another run: none of 1"):
        audit_run(RunFolder(played), labels)
    labels.write_text("task,verdict\n")
    with pytest.raises(DataError, match="no column item, label"):
        audit_run(RunFolder(played), labels)


class Silent(Weatherman):
    """Answers nothing in Rome, and otherwise at more length."""

    def complete(self, request):
        found = super().complete(request)
        if found.calls:
            return found
        rome = "Rome" in found.content
        return type(found)("" if rome else f"{found.content} Enjoy it!")


def preferred(base: Path, run: Path, **settings):
    """Return the win rate of a run against a base, by the settings of the judge."""
    return win_rate(RunFolder(run), RunFolder(base), PreferenceSettings(**settings))


@pytest.fixture
def two(pool, tmp_path, played):
    return played, play(pool, tmp_path / "other", model=Silent("silent")).folder.path


def preferring(choose):
    """Answer by a function of (first answer, second answer)."""

    def script(request):
        shown = json.loads(request.body["messages"][1]["content"])
        better = choose(shown["first"]["final_answer"], shown["second"]["final_answer"])
        return text(json.dumps({"better": better, "reason": "r"}))

    return script


def test_win_rate_asks_in_both_orders(two, model_server):
    server = model_server(preferring(lambda a, b: "first" if len(a) > len(b) else "second"))
    found = preferred(*two, judge_model="openai/j", base_url=server.url)

    assert (found["win"], found["lose"], found["tie"]) == (0.75, 0.25, 0.0)
    assert found["by"] == {"judge": 3, "missing": 1}
    assert found["order"] == {"first": 0.5, "answers": 6, "turned": 0.0, "votes": 3}
    assert len(server.received) == 6
    assert [goal["by"] for goal in found["won"]] == ["judge"] * 3
    assert found["lost"] == [
        {"task": "rome-0", "trial": 0, "goal": 0, "by": "missing", "reason": ""}
    ]


def test_a_judge_that_prefers_a_place_decides_nothing(two, model_server):
    server = model_server(preferring(lambda a, b: "first"))
    found = preferred(*two, judge_model="openai/j", base_url=server.url, votes=2)

    assert (found["win"], found["lose"], found["tie"]) == (0.0, 0.25, 0.75)
    assert (found["order"]["first"], found["order"]["turned"]) == (1.0, 1.0)


def test_win_rate_without_a_usable_answer_or_server_has_no_outcome(two, model_server):
    prose = model_server(lambda request: text("the first one, I guess"))
    found = preferred(*two, judge_model="openai/j", base_url=prose.url)
    assert (found["n"], found["by"]) == (1, {"missing": 1, "unusable": 3})

    down = model_server(lambda request: failure(500))
    found = preferred(*two, judge_model="openai/k", base_url=down.url, model_options=NAMED)
    assert found["by"] == {"error": 3, "missing": 1}


def test_identical_runs_tie_by_rule(played):
    found = preferred(played, played)
    assert (found["tie"], found["win_rate"], found["by"]) == (1.0, 0.5, {"equal": 4})


def test_by_rule_an_answer_without_a_verdict_neither_wins_nor_loses(two, tmp_path):
    base, other = two
    (other / "scores.jsonl").unlink()
    found = preferred(base, other)
    assert (found["n"], found["by"]) == (1, {"missing": 1, "unusable": 3})
    assert "judge both runs" in found["undecided"][0]["reason"]


def test_runs_without_a_task_in_common_are_refused(played, tmp_path):
    pool = write_pool(tmp_path / "more", many(9)[5:])
    other = play(pool, tmp_path / "else", model=Weatherman()).folder.path
    with pytest.raises(DataError, match="no task and trial in common"):
        preferred(played, other)


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_rates_of_upstreams_example_are_the_published_ones(kind, tmp_path, seal_data):
    example = seal_data / "stabletoolbench" / "data_example"
    seal.import_benchmark("toolbench", example, tmp_path / "pool")
    for model, rate in (("cot", 2 / 3), ("dfs", 1.0)):
        name = f"virtual_chatgpt_{model}"
        run = play(tmp_path / "pool", tmp_path / model, model=f"recorded:{name}").folder.path
        file = example / "pass_rate_results" / name / f"G1_instruction_{name}.{kind}"
        summary = rescore(run, ScoreSettings(judge="pass_paper,sopr", verdicts=file))

        assert read_verdicts(file).runs == 3
        assert summary["metrics"]["sopr"]["mean"] == pytest.approx(rate, abs=1e-6)
        assert summary["metrics"]["pass_rate"]["mean"] == pytest.approx(rate, abs=1e-6)
        assert summary["judging"]["sopr"]["deviation"] == 0.0
    with pytest.raises(DataError, match="verdicts of another run"):
        rescore(tmp_path / "cot", ScoreSettings(judge="sopr", verdicts=file))


def test_a_run_is_judged_again_by_another_prompt(played, model_server):
    verdict = text('{"verdict": "solved", "reason": "r"}')
    server = model_server(lambda request: verdict)
    how = {"judge_model": "openai/j", "base_url": server.url, "workers": 1}
    seal.score(played, prompts={"judge_answer": "Be strict."}, **how)
    manifest = RunFolder(played).manifest()
    assert {r.body["messages"][0]["content"] for r in server.received} == {"Be strict."}
    assert manifest["prompts"] == {"judge_answer": "Be strict."}
    seal.score(played, **how)
    again = RunFolder(played).manifest()
    assert "prompts" not in again and again["measure"]["judge"] != manifest["measure"]["judge"]


@pytest.mark.parametrize(
    ("prompts", "model", "told"),
    [
        ({"judge_answer": "x"}, None, "--judge-model MODEL"),
        ({"judge_completeness": "x"}, "openai/j", "is asked: judge_answer, judge_trajectory"),
        ({"planner": "x"}, "openai/j", "--prompt planner"),
        ({"judge_answer": "theirs"}, "openai/j", "goes to roles alone"),
        ({"judge_answer": "{today}"}, "openai/j", "no variable {today}"),
    ],
)
def test_a_judge_is_told_no_prompt_that_it_does_not_ask_by(played, prompts, model, told):
    with pytest.raises(UsageError) as refused:
        seal.score(played, prompts=prompts, judge_model=model, base_url="http://localhost:9/v1")
    assert told in str(refused.value)
