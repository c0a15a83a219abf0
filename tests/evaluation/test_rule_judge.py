"""The rule judge by hand-worked cases, the model judge by scripted models, the pass rate."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from chats import by_name, exchange, goal, gold, plan, task, trajectory
from looped import every_case
from milestone_chats import A, asks, chat, does, reply, says

import seal
from seal.core import (
    Completion,
    Goal,
    Milestone,
    ModelError,
    NoVerdictError,
    Plan,
    Request,
    Step,
    Task,
    ToolResult,
    Verdict,
)
from seal.core.conditions import Asked, Replied
from seal.core.records import read_records
from seal.core.slots import slots_of
from seal.core.state_conditions import StateHas
from seal.evaluation.llm_judge import LLMJudge, parse_verdict, prompts_digest
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.rule_judge import RuleJudge

WEATHER = gold("weather", {"city": "Bern"})
CALL = ("weather", {"city": "Bern"})
SUNNY = {"city": "Bern", "temperature": 21.5, "sky": "partly cloudy"}
ASK = "What is the weather in Bern?"

VALUED = goal(plan(WEATHER), text=ASK, answers=("21.5", "partly cloudy"))
NUMBER = goal(plan(WEATHER), text=ASK, answers=("21.5",))
CALLS = goal(plan(WEATHER), text=ASK)
OPEN = replace(CALLS, reference=(Step(0, "planner", "user_simulator", "Not bad at all there."),))
BARE = Goal(ASK)
RELEVANT = Goal(ASK, relevant=("weather",))
ASKING = goal(plan(Asked(("city",))), text="What is the weather?")
CHAT = goal(plan(Replied(("hello",))), text="Say hello")
ABSTAIN = goal(Plan(), text="Fly me to the moon")
UNSERVED = replace(ABSTAIN, labels={"action": "abstain"})
REFERRED = replace(UNSERVED, reference=(Step(0, "planner", "user_simulator", "I cannot fly."),))
TOLD = (
    Step(0, "planner", "user_simulator", "It has 9 degrees."),
    Step(1, "planner", "user_simulator", "You are welcome."),
)
TELLING = Goal(ASK, tells=slots_of({"degrees": "21.5 C"}), reference=TOLD[1:])
SYNONYMS = Goal(ASK, answers=("21.5", "twenty-one and a half"), any_answer=True)
EITHER = goal(plan(WEATHER), plan(Asked()), text=ASK, answers=("21.5",))

DONE = exchange([CALL], [SUNNY])
FAILED = exchange([CALL], [RuntimeError("service unavailable")])

TABLE: list[tuple[str, Goal, str | None, list[Step], str, int]] = [
    ("no answer", VALUED, None, DONE, "unsolved", 1),
    ("blank answer", VALUED, "  \n", DONE, "unsolved", 1),
    ("give-up marker", BARE, '{"return_type": "give_up_and_restart"}', DONE, "unsolved", 1),
    ("gives up in words", BARE, "I give up.", DONE, "unsolved", 1),
    ("all values", VALUED, "It is 21.5 °C and partly cloudy.", DONE, "solved", 1),
    ("all values, other writing", VALUED, "21.50 degrees; Partly Cloudy", DONE, "solved", 1),
    ("all values beside an apology", VALUED, "Sorry for the wait! It is 21.5, partly cloudy.",
     DONE, "solved", 1),
    ("one value missing", VALUED, "It is 21.5 °C.", DONE, "unsolved", 2),
    ("one of the alternatives", SYNONYMS, "It is twenty-one and a half.", [], "solved", 1),
    ("none of the alternatives", SYNONYMS, "It is warm.", [], "unsolved", 2),
    ("a number beside the alternatives", SYNONYMS, "It is 35 °C.", DONE, "unsolved", 2),
    ("value denied", NUMBER, "It is not 21.5 °C.", DONE, "unsolved", 2),
    ("value doubted", NUMBER, "I could not see whether it is 21.5 °C.", DONE, "unsure", 2),
    ("value rounded", NUMBER, "It is about 22 °C.", DONE, "solved", 1),
    ("no number at all", NUMBER, "It is all arranged.", DONE, "unsolved", 2),
    ("no number, where words are wanted too", VALUED, "It is all arranged.", DONE, "unsolved", 2),
    ("no number, but nothing was brought", NUMBER, "It is warm.", [], "unsolved", 2),
    ("another number than the result", NUMBER, "It is 35 °C.", DONE, "unsolved", 2),
    ("another number, but never seen", NUMBER, "It is 35 °C.", exchange([CALL], [{}]),
     "unsolved", 2),
    ("another number of the result", NUMBER, "It is 17 °C.",
     exchange([CALL], [{"now": 21.5, "night": 17}]), "unsolved", 2),
    ("refusal", VALUED, "I'm sorry, but I cannot get the weather.", DONE, "unsolved", 2),
    ("refusal with an offer", BARE, "Unfortunately I can't do that. Please try again later.", [],
     "unsolved", 1),
    ("refusal beside content", BARE, "I cannot see tomorrow. Today is sunny.", [], "unsure", 2),
    ("nothing found is no refusal", BARE, "I could not find any flights.", DONE, "unsure", 2),
    ("every call failed", BARE, "It is sunny in Bern.", FAILED, "unsolved", 2),
    ("a retry worked", VALUED, "It is 21.5 and partly cloudy.", [*FAILED, *DONE], "solved", 1),
    ("no call though one is needed", OPEN, "It is sunny.", [], "unsolved", 2),
    ("no call, nothing annotated", BARE, "It is sunny.", [], "unsure", 2),
    ("tells the gold call's result", OPEN, "In Bern it is partly cloudy.", DONE, "solved", 2),
    ("tells only what was asked", OPEN, "Here is the weather of Bern.", DONE, "unsure", 2),
    ("adds a number from nowhere", OPEN, "It is partly cloudy and 37 degrees.", DONE, "unsure", 2),
    ("tells the result of a wrong call", OPEN, "It is partly cloudy.",
     exchange([("weather", {"city": "Rome"})], [SUNNY]), "unsure", 2),
    ("gold is calls alone", CALLS, "It is nice.", DONE, "solved", 2),
    ("calls are all of it, whatever they brought", CALLS, "I'm sorry, I cannot.", FAILED,
     "solved", 2),
    ("calls are all of it, whatever is said", CALLS, None, DONE, "solved", 2),
    ("a call besides", CALLS, "It is nice.", exchange([CALL, CALL], [SUNNY, SUNNY]),
     "unsolved", 2),
    ("a wrong call", CALLS, "It is partly cloudy.", exchange([("weather", {"city": "Rome"})],
     [SUNNY]), "unsolved", 2),
    ("relevant tools do not prove it", RELEVANT, "It is partly cloudy.", DONE, "unsure", 2),
    ("nothing there is no refusal", BARE, "Sorry, there are no flights.", DONE, "unsure", 2),
    ("nothing says which tools matter", BARE, "It is partly cloudy.", DONE, "unsure", 2),
    ("tells, but refuses a part", OPEN, "It is partly cloudy. Sorry, I cannot book.", DONE,
     "unsure", 2),
    ("generic words tell nothing", OPEN, "It was a success.",
     exchange([CALL], [{"status": "success"}]), "unsure", 2),
    ("number in prose", OPEN, "Bern has 21.5 degrees.",
     exchange([CALL], ["The air in the city of Bern has a temperature of 21.5 degrees now"]),
     "solved", 2),
    ("asks for what is missing", ASKING, "Which city do you mean?", [], "solved", 1),
    ("asks in full width", goal(plan(Asked())), "哪个城市？", [], "solved", 1),
    ("asks for something else", ASKING, "Which day do you mean?", [], "unsure", 2),
    ("guesses where it had to ask", ASKING, "It is sunny.", DONE, "unsolved", 1),
    ("asks where it might", EITHER, "Which one?", [], "solved", 1),
    ("answers where it might ask", EITHER, "21.5", DONE, "solved", 1),
    ("chat says it", CHAT, "Hello to you!", [], "solved", 1),
    ("chat does not say it", CHAT, "Good day.", [], "unsolved", 2),
    ("refuses where no tool fits", ABSTAIN, "I cannot do that.", [], "solved", 2),
    ("chats where no tool fits", ABSTAIN, "Hello there.", [], "solved", 2),
    ("calls where no tool fits", ABSTAIN, "I cannot do that.", DONE, "unsolved", 2),
    ("abstains where no tool serves", UNSERVED, "None of the tools fits.", [], "solved", 2),
    ("refuses alone where no tool serves", UNSERVED, "I'm sorry, I can't.", [], "solved", 2),
    ("pretends where no tool serves", UNSERVED, "You are on the moon.", [], "unsure", 2),
    ("asks where no tool serves", UNSERVED, "When would you like to fly?", [], "unsure", 2),
    ("says nothing where no tool serves", UNSERVED, "", [], "unsolved", 1),
    ("calls where no tool serves", UNSERVED, "I cannot do that.", DONE, "unsolved", 2),
    ("calls in vain where no tool serves", UNSERVED, "I can't.", FAILED, "unsolved", 2),
    ("the reference reply, after a call", REFERRED, "I cannot fly.", DONE, "unsolved", 2),
    ("the reference reply, without one", REFERRED, "I cannot fly.", [], "solved", 2),
    ("the reference reply, after a wrong value", TELLING, TOLD[1].content, [*DONE, *TOLD],
     "unsolved", 2),
    ("Chinese value", goal(plan(WEATHER), answers=("多云",)), "北京今天多云，气温21度。", DONE,
     "unsure", 2),
]  # fmt: skip


@every_case(
    ("wanted", "answer", "steps", "label", "stage"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_rule_judge_decides_by_hand_worked_cases(
    wanted: Goal, answer: str | None, steps: list[Step], label: str, stage: int
) -> None:
    verdict = RuleJudge().judge(wanted, answer, steps)
    assert (verdict.label, verdict.stage) == (label, stage), verdict.reason
    assert verdict.reason


@pytest.mark.parametrize(("upstream", "label"), [("", "unsure"), ("Unsubscribed", "unsolved")])
def test_result_that_was_cut_is_no_failure_unless_it_reports_one(upstream: str, label: str) -> None:
    error = {"kind": "truncated", "message": "", "upstream": upstream, "cut": ["response"]}
    result = Step(9, "executor", "", result=ToolResult("call_0", "", error))
    verdict = RuleJudge().judge(BARE, "It is sunny.", [*exchange([CALL]), result])
    assert verdict.label == label


def test_reference_reply_is_solved_whatever_it_says() -> None:
    reference = (Step(0, "orchestrator", "user_simulator", "I cannot do that, sorry."),)
    wanted = goal(plan(WEATHER), reference=reference)
    assert RuleJudge().judge(wanted, "i cannot do that - sorry", []).label == "solved"


class Script:
    """A model that gives these answers in turn and keeps what it was asked."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer)


def said(label: str) -> str:
    return f'{{"verdict": "{label}", "reason": "because"}}'


def ask(model: Script, answer: str | None = "It is sunny.", steps: Sequence[Step] = ()) -> Verdict:
    return LLMJudge(model, seed=3).judge(BARE, answer, steps)


def test_model_judge_decides_from_the_answer_where_it_can() -> None:
    model = Script(said("solved"))
    assert ask(model) == Verdict("solved", "because", 1)
    assert (model.requests[0].role, model.requests[0].seed) == ("judge", 3)
    assert model.requests[0].tools == ()


def test_model_judge_sees_the_trajectory_only_where_it_is_unsure() -> None:
    model = Script(said("unsure"), said("unsolved"))
    assert ask(model, steps=DONE) == Verdict("unsolved", "because", 2)
    first, second = (request.messages[1].content for request in model.requests)
    assert "partly cloudy" not in first
    assert "partly cloudy" in second


def test_model_judge_never_sees_a_checkers_verdict() -> None:
    model = Script(said("unsure"), said("unsure"))
    ask(model, steps=[Step(0, "checker", "user_simulator", "solved: perfect")])
    assert "perfect" not in model.requests[1].messages[1].content


@pytest.mark.parametrize("answer", [None, " ", "give_up_and_restart"])
def test_model_judge_is_not_asked_about_nothing(answer: str | None) -> None:
    assert ask(Script(), answer).label == "unsolved"


def test_malformed_verdict_is_asked_again_with_the_repair() -> None:
    model = Script("It is solved, I think.", said("solved"))
    assert ask(model).label == "solved"
    assert [m.role for m in model.requests[1].messages] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("answers", [["prose"] * 3, ['{"verdict": "9/10"}'] * 3, [""] * 3])
def test_judge_that_never_answers_on_the_scale_gives_no_verdict(answers: list[str]) -> None:
    with pytest.raises(NoVerdictError, match="no verdict in 3 tries"):
        ask(Script(*answers))

    score = rate(trajectory(DONE, "It is 21.5"), LLMJudge(Script(*answers)))
    assert (score.value, score.reason[:18]) == (None, "no usable verdict:")


@every_case(
    ("answer", "asked", "value"),
    [("It is 21.5 °C.", 0, 1.0), ("It is 17 °C.", 0, 0.0), ("I guess 21.5 °C, not sure.", 1, 1.0)],
)
def test_a_model_is_asked_of_what_is_to_be_told_only_where_rules_cannot_tell(
    answer: str, asked: int, value: float
) -> None:
    wanted = seal.ask("How warm is it?", tells={"temperature": "21.5 °C"}).goals[0]
    model = Script(said("solved"))
    found = by_name(PassRate(LLMJudge(model)), task(wanted), trajectory([], answer))["pass_rate"]
    assert (found.value, len(model.requests)) == (value, asked)
    assert all("21.5 °C" in one.messages[-1].content for one in model.requests)


def test_failing_server_of_the_judge_is_no_verdict() -> None:
    with pytest.raises(ModelError):
        ask(Script(ModelError("no server")))


@every_case(
    ("text", "label"),
    [
        (said("solved"), "solved"),
        (said("Unsure"), "unsure"),
        ('{"verdict": "unsolved"}', "unsolved"),
        (f"```json\n{said('solved')}\n```", "solved"),
        ("", None),
        ("solved", None),
        (said("maybe"), None),
        ('{"verdict": 1, "reason": ""}', None),
        ('{"verdict": "solved", "reason": 1}', None),
        ('{"reason": "good"}', None),
        (f"Sure! {said('solved')} That is all.", "solved"),
        (f'I was asked for {{"a": 1}} or {{b}}.\n{said("unsolved")}', "unsolved"),
        (f"{said('solved')}\n{said('solved')}", "solved"),
        (f"{said('solved')}\n{said('unsolved')}", None),
        ("It is solved, so {verdict: solved}", None),
        ('["solved"]', None),
    ],
)
def test_verdicts_are_read_strictly(text: str, label: str | None) -> None:
    verdict = parse_verdict(text, 1)
    assert (verdict.label if verdict else None) == label


def test_judges_name_themselves_and_their_prompts() -> None:
    assert RuleJudge().identity == "rule/9"
    assert LLMJudge(Script()).identity == f"llm/{prompts_digest()[:12]}"


def rate(done: Any, judge: Any = None) -> Any:
    return by_name(PassRate(judge or RuleJudge()), task(VALUED), done)["pass_rate"]


def test_an_answer_that_lacks_a_value_of_gold_is_not_passed() -> None:
    score = rate(trajectory(DONE, "It is 21.5."))
    assert score.value == 0.0
    assert (score.details["label"], score.details["stage"]) == ("unsolved", 2)
    assert "'partly cloudy'" in score.details["reason"]


@pytest.mark.parametrize("asked", [RELEVANT, BARE, OPEN], ids=["relevant", "bare", "open"])
def test_an_answer_that_gold_says_nothing_of_is_undecided(asked: Goal) -> None:
    score = by_name(PassRate(), task(asked), trajectory(DONE, "It is nice."))["pass_rate"]
    assert (score.value, score.weight, score.reason[:10]) == (None, 0.0, "undecided:")
    assert score.details["label"] == "unsure"


def test_an_answer_that_may_not_refuse_fails_where_no_tool_serves_and_says_so() -> None:
    score = by_name(PassRate(), task(UNSERVED), trajectory([], "When is that?"))["pass_rate"]
    assert (score.value, score.details["label"]) == (0.0, "unsolved")
    assert score.details["reason"] == (
        "no call was made, but the answer does not say that no tool serves the request"
    )


def test_an_oracle_of_calls_is_solved_though_every_call_failed() -> None:
    score = by_name(PassRate(), task(CALLS), trajectory(FAILED, None, stop="max_turns"))
    assert score["pass_rate"].value == 1.0


def test_no_judge_is_asked_where_gold_is_calls_alone() -> None:
    down = PassRate(LLMJudge(Script(ModelError("no server"))))
    score = by_name(down, task(CALLS), trajectory(DONE, "No idea."))["pass_rate"]
    assert (score.value, score.details["by"]) == (1.0, "calls")


def test_solved_passes() -> None:
    assert rate(trajectory(DONE, "It is 21.5 and partly cloudy")).value == 1.0


def test_reaching_a_limit_without_an_answer_is_the_models_failure() -> None:
    score = rate(trajectory(DONE, None, stop="max_turns"))
    assert score.value == 0.0
    assert score.details["reason"] == "there is no final answer (max_turns)"


def test_failed_infrastructure_is_not_judged() -> None:
    assert rate(trajectory(DONE, "It is 21.5", stop="error")).value is None


def test_failing_judge_leaves_no_value_but_a_reason() -> None:
    score = rate(trajectory(DONE, "It is 21.5"), LLMJudge(Script(ModelError("no server"))))
    assert (score.value, score.reason) == (None, "infrastructure: judge: no server")


def test_goal_that_was_never_played_is_unsolved() -> None:
    rows = PassRate().score(task(VALUED, VALUED), trajectory(DONE, "21.5, partly cloudy"), {})
    assert [s.value for s in rows] == [1.0, 0.0]


NOTED = StateHas("notes", ({"text": "milk"},), "addition", since=-1)
WORLD = task(goal(plan(NOTED, reply("Noted: milk", "rouge_l")), reference=(says("Noted: milk"),)))
WROTE = does("notes/add", notes=[A, {"id": 2, "text": "milk"}])


def world_rate(*steps: Step, judge: Any = None, **found: Any) -> Any:
    played = replace(chat(asks(), *steps), task_id=WORLD.id, **found)
    return by_name(PassRate(judge or RuleJudge()), WORLD, played)["pass_rate"]


def test_a_world_is_not_solved_by_the_reference_reply_alone() -> None:
    score = world_rate(says("Noted: milk"), answers=("Noted: milk",))

    assert (score.value, score.details["label"]) == (0.0, "unsolved")
    assert score.details["reason"] == "not reached: milestone 0"
    assert score.details["by"] == "milestones"


def test_milestones_that_were_all_reached_solve_without_a_judge() -> None:
    score = world_rate(*WROTE, says("Noted: milk"), judge=LLMJudge(Script(ModelError("no server"))))

    assert (score.value, score.details["reason"]) == (1.0, "every milestone was reached")


def test_a_minefield_is_no_solution_whatever_was_reached() -> None:
    fenced = replace(WORLD.goals[0].plans[0], minefields=(Milestone(NOTED),))
    told = task(goal(fenced))
    played = replace(chat(asks(), *WROTE, says("Noted: milk")), task_id=told.id)

    score = by_name(PassRate(), told, played)["pass_rate"]
    assert (score.value, score.details["reason"]) == (0.0, "a minefield was hit")


def test_where_milestones_leave_it_open_the_judge_is_asked() -> None:
    wordy = (*WROTE, says("I wrote milk down, noted"))
    given = {"answers": ("I wrote milk down, noted",)}
    model = Script(said("solved"))

    assert world_rate(*wordy, **given).details["label"] == "unsure"
    assert world_rate(*wordy, judge=LLMJudge(model), **given).value == 1.0


def test_words_never_prove_to_the_rule_judge_what_was_done_in_the_world() -> None:
    verdict = RuleJudge().judge(WORLD.goals[0], "Noted: milk", [])

    assert (verdict.label, verdict.reason[:5]) == ("unsure", "words")


def test_milestones_that_cannot_be_measured_leave_the_pass_rate_without_value() -> None:
    late = replace(plan(NOTED), milestones=(Milestone(NOTED, (1,)), Milestone(NOTED, (0,))))
    told = task(goal(late))

    score = by_name(PassRate(), told, replace(chat(asks()), task_id=told.id))["pass_rate"]
    assert score.value is None
    assert score.reason.startswith("the plan cannot be measured: ")


def sample_goals() -> list[Goal]:
    path = Path(str(files("seal.benchmarks") / "sample" / "tasks.jsonl"))
    return [wanted for found in read_records(path, Task) for wanted in found.goals]


def last_text(wanted: Goal) -> str:
    return [s.content for s in wanted.reference if s.call is None and s.result is None][-1]


def test_every_reference_of_the_sample_is_solved_even_if_the_judge_does_not_know_it() -> None:
    for wanted in sample_goals():
        unknown = replace(wanted, reference=())
        assert RuleJudge().judge(unknown, last_text(wanted), wanted.reference).label == "solved"


def test_no_reply_of_another_task_of_the_sample_is_solved() -> None:
    valued = [wanted for wanted in sample_goals() if wanted.answers]
    for wanted, other in zip(valued, valued[1:] + valued[:1], strict=True):
        verdict = RuleJudge().judge(wanted, last_text(other), other.reference)
        assert verdict.label != "solved", wanted.text


def test_an_answer_of_millions_of_characters_is_not_read():
    """Reading one took half a minute."""
    asked = goal(text="How many?", answers=("1200",))
    long = "There are 1200 of them. " * 42_000
    for answer, label in ((long[:900], "solved"), (long, "unsure")):
        assert RuleJudge().judge(asked, answer, ()).label == label
