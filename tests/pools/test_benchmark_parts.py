"""What a benchmark declares of its goals, roles and runs is asked where the engine needs it."""

from dataclasses import dataclass, replace

import pytest
from shops import shop

import seal
from seal.agents.teams import DIRECT, Team
from seal.core import Completion, Message, Reply, Scale, Score, UnknownNameError, UsageError
from seal.evaluation.attribution import Cause
from seal.experiments.ablation import Variation, ablation_named
from seal.pools.declarations import Generator
from seal.pools.importer import REGISTRY


@dataclass(frozen=True)
class Recipes:
    """Settings of a generator."""

    servings: int = 2


class Clerk:
    """The role of the shop's own team."""

    def reply(self, chat):
        """Say what the role's model says."""
        return Reply(chat.complete([Message("user", chat.request)]).content, done=True)


COUNTER = Team(
    "counter",
    {"user_simulator": "user_simulator", "clerk": Clerk},
    "clerk",
    {"user_simulator": ("clerk",)},
)


class Named:
    """Scores by how the run does; its details tell who judges."""

    def __init__(self, scoring):
        self.scoring = scoring

    def score(self, task, trajectory, tools):
        """Return one score."""
        judge = type(self.scoring.judge_of(task, trajectory.trial)).__name__
        details = {"judge": judge, "sandbox": self.scoring.sandbox}
        return [Score(task.id, trajectory.trial, 0, "served", 0.0, details=details)]


def by_served(goal):
    """Decide every goal by the metric `served`."""
    return [("nothing",), ("served",)]


def played(bench, tmp_path, **settings):
    given = {"baselines": False, "cache_dir": tmp_path / "cache", "out": tmp_path / "run"}
    return seal.run(bench, **{**given, **settings})


def known(name, **parts):
    """Return a shop that is registered under a name of its own, as an installed one is."""
    bench = replace(shop(**parts), name=name)
    REGISTRY.register(name, bench)
    return bench


def test_its_measures_know_how_the_run_scores(tmp_path):
    run = played(shop(measures=lambda scoring: [Named(scoring)]), tmp_path)

    told = next(score for score in run.folder.scores() if score.metric == "served")
    assert told.details == {"judge": "RuleJudge", "sandbox": "monty"}


def test_metrics_of_requests_do_not_apply_where_no_goal_is_one(tmp_path):
    run = played(shop(is_request=lambda goal: "Cancel" in goal.text), tmp_path)

    judged = {score.task_id for score in run.folder.scores() if score.metric == "pass_rate"}
    assert judged == {"shop-002"}


def test_its_metrics_decide_and_it_explains_what_failed(tmp_path):
    bench = shop(
        measures=lambda scoring: [Named(scoring)],
        decided_by=by_served,
        cause_of=lambda evidence: Cause("not_called", "shop_closed", "the shop was closed"),
    )
    run = played(bench, tmp_path, model="oracle")
    found = seal.explain(run).content

    assert found["decided_by"] == {"served": 2}
    causes = {name: n for stage in found["stages"] for name, n in stage["causes"].items()}
    assert causes == {"shop_closed": 2}


def test_an_offline_model_plays_its_roles(tmp_path):
    def answer(request, task):
        return Completion(f"Clerk of {task.id}") if request.role == "clerk" else None

    bench = shop(play={"team": COUNTER}, players={"lexical": answer})
    run = played(bench, tmp_path, model="lexical")

    assert [chat.answers for chat in run.folder.trajectories()] == [
        ("Clerk of shop-001",),
        ("Clerk of shop-002",),
    ]


def test_it_fills_gaps_of_settings_and_chooses_the_tasks(tmp_path):
    def settled(settings, play):
        return settings if settings.team is not None else replace(settings, team=DIRECT)

    def first_only(settings, pool):
        return lambda read: (task for task in read() if task.id.endswith("1"))

    run = played(shop(settings=settled, view=first_only), tmp_path)

    assert run.folder.manifest()["system"]["team"] == "direct"
    assert [task.id for task in run.folder.tasks()] == ["shop-001"]


def test_it_offers_ablations():
    depth = Variation("depth", "top_k", (), ("pass_rate",))
    bench = known("varied-shop", ablations=[depth])

    assert ablation_named("depth", bench) is depth
    with pytest.raises(UnknownNameError, match="no ablation 'depth'"):
        ablation_named("depth")


def test_whoever_reads_the_run_of_a_registered_benchmark_asks_it(tmp_path):
    bench = known("read-shop", measures=lambda scoring: [Named(scoring)], decided_by=by_served)
    folder = played(bench, tmp_path).folder

    assert folder.benchmark() is bench
    assert seal.explain(folder.path).content["decided_by"] == {"served": 2}
    seal.score(folder.path)
    assert "served" in folder.summary()["metrics"]


def test_an_option_that_it_does_not_have_is_refused(tmp_path):
    with pytest.raises(UsageError, match="-T tools: no task of this pool"):
        played(shop(), tmp_path, world_options={"tools": "created"})


def test_an_option_that_it_takes_itself_is_told_in_the_run(tmp_path):
    bench = known("loud-shop", options={"volume": "measure", "speed": "system"})
    manifest = played(bench, tmp_path, world_options={"volume": 3}).folder.manifest()
    assert manifest["measure"]["volume"] == 3
    assert "speed" not in manifest["system"]


def test_a_name_of_ours_for_another_benchmark_is_told(tmp_path, caplog) -> None:
    mine = replace(shop(), name="toolsandbox")
    seal.run(mine, baselines=False, out=tmp_path / "run")
    assert "'toolsandbox': SEAL ships another one of this name" in caplog.text
    caplog.clear()
    seal.run("sample", limit=1, baselines=False, out=tmp_path / "sample")
    assert "ships another" not in caplog.text


def test_an_ablation_tells_what_it_declares_to_matter(tmp_path):
    def words(task, trajectory):
        return {"words": len(" ".join(filter(None, trajectory.answers)).split()), "polite": 0.0}

    words.scales = {"words": Scale(bounded=False)}
    bench = shop(metrics=[words], headline=("words", "call_f1"), success="polite")
    done = seal.ablate("feedback", bench, out=tmp_path / "ablated", baselines=False, limit=1)
    assert done.content["protocol"]["told"][-2:] == ["words", "polite"]


def test_settings_of_a_generator_of_its_own_are_checked(monkeypatch, tmp_path):
    recipes = Generator(make=lambda bench, out, **given: given, about="", settings=Recipes)
    kitchen = replace(shop(generators={"recipes": recipes}), name="kitchen")
    monkeypatch.setitem(REGISTRY._registered, "kitchen", kitchen)  # it ends with this test
    with pytest.raises(UnknownNameError, match=r"no setting 'serving'.*Did you mean 'servings'"):
        seal.generate("recipes", "sample", tmp_path / "out", serving=4)
    with pytest.raises(UsageError, match="servings: expected a whole number, got 'many'"):
        seal.generate("recipes", "sample", tmp_path / "out", servings="many")
    assert seal.generate("recipes", "sample", tmp_path / "out", servings=4)["servings"] == 4
