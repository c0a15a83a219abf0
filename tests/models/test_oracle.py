import json

from looped import every_case

from seal.core import Goal, Message, Milestone, Plan, Request, Step, Task, Tool, ToolCall
from seal.core.conditions import Argument, Asked, Called, Condition, Replied
from seal.core.slots import slots_of
from seal.models.lexical import find_scene
from seal.models.oracle import reply_of
from seal.models.spec import build_model, open_model

GEO = Tool("demo/geo/locate", "locate_place")
RAIN = Tool("demo/rain/when", "rain_at")
FIND = Tool("seal/chat/find_tools", "find_tools")


def called(tool, **arguments):
    return Called(tool.id, {name: Argument((value, "other")) for name, value in arguments.items()})


def plan(*milestones):
    return (Plan(tuple(Milestone(condition, after) for condition, after in milestones)),)


DEPENDENT = Goal(
    "When does it rain in Bern and in Rome?",
    plan(
        (called(GEO, city="Bern"), ()),
        (called(GEO, city="Rome"), ()),
        (called(RAIN, lat=46.9), (0,)),
        (Replied(("at noon",)), (1, 2)),
    ),
    answers=("never",),
)


def oracle(*goals, **fields):
    return open_model(build_model("oracle"), Task("t", "demo", goals, **fields), 0)


def play(model, said, tools, role="execution_manager", most=8):
    """Play a role alone; every call is answered. Returns the rounds of calls, and the text."""
    messages, rounds = list(said), []
    for _ in range(most):
        answer = model.complete(Request(tuple(messages), tuple(tools), role))
        if not answer.calls:
            return rounds, answer.content
        calls = tuple(
            ToolCall(f"c{len(messages)}_{n}", c.name, c.arguments)
            for n, c in enumerate(answer.calls)
        )
        rounds.append([(call.name, call.arguments) for call in calls])
        messages.append(Message("assistant", answer.content, calls))
        messages += [Message("tool", json.dumps({"n": c.id}), call_id=c.id) for c in calls]
    raise AssertionError("it never ends")


def asked(goal, author=""):
    return [Message("system", "Call tools."), Message("user", author + goal.text)]


def test_in_a_world_the_oracle_does_not_say_that_it_did_what_gold_leaves_undone():
    undone = Goal("Remove my reminder.", (Plan(),))
    assert play(oracle(undone, world="phone"), asked(undone), [GEO]) == (
        [],
        "I cannot do that with the tools that I have.",
    )
    assert play(oracle(undone), asked(undone), [GEO]) == ([], "Done.")


def test_a_call_with_any_arguments_has_those_that_its_tool_requires():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    roll = Tool("demo/dice/roll", "roll", parameters=schema)
    goal = Goal("Roll the dice.", plan((Called(roll.id), ())))
    assert play(oracle(goal), asked(goal), [roll])[0] == [[("roll", {"n": 1})]]


def test_parallel_calls_come_in_one_reply_and_dependent_ones_later():
    rounds, text = play(oracle(DEPENDENT), asked(DEPENDENT), [RAIN, GEO])
    assert rounds == [
        [("locate_place", {"city": "Bern"}), ("locate_place", {"city": "Rome"})],
        [("rain_at", {"lat": 46.9})],
    ]
    assert "at noon" in text and "never" in text


def test_scrambled_names_are_followed():
    scrambled = [Tool(GEO.id, "x1"), Tool(RAIN.id, "x2")]
    rounds, _ = play(oracle(DEPENDENT), asked(DEPENDENT), scrambled)
    assert [name for batch in rounds for name, _ in batch] == ["x1", "x1", "x2"]


def test_a_tool_that_is_not_offered_is_not_called():
    rounds, text = play(oracle(DEPENDENT), asked(DEPENDENT), [RAIN])
    assert rounds == [[("rain_at", {"lat": 46.9})]] and text


def test_missing_tools_are_looked_for_once_where_that_can_be_done():
    rounds, _ = play(oracle(DEPENDENT), asked(DEPENDENT), [RAIN, FIND])
    assert rounds[0] == [("find_tools", {"query": "geo locate"})] * 2
    assert [name for batch in rounds[1:] for name, _ in batch] == ["rain_at"]


def test_the_oracle_tells_again_only_what_the_reference_does_not_tell():
    reference = (
        Step(0, "user_simulator", "execution_manager", "How long?"),
        Step(1, "execution_manager", "user_simulator", "It is half past four, so an hour."),
        Step(2, "user_simulator", "execution_manager", "Thanks.", turn=2),
        Step(3, "execution_manager", "user_simulator", "Any time.", turn=3),
    )
    told = {"time": "16:30", "price": "5 EUR", "room": {"value": "B12", "optional": True}}
    goal = Goal("How long?", reference=reference, tells=slots_of(told))
    assert reply_of(goal) == "Any time. price: 5 EUR"


def test_the_reference_goes_before_the_plan():
    reference = (
        Step(0, "user_simulator", "execution_manager", "hi"),
        Step(1, "execution_manager", "executor", call=ToolCall("", "x", {"a": 1}, tool=GEO.id)),
        Step(2, "execution_manager", "user_simulator", "It is done.", turn=2),
    )
    goal = Goal("hi", DEPENDENT.plans, ("42",), reference=reference)
    rounds, text = play(oracle(goal), asked(goal), [GEO, RAIN])
    assert rounds == [[("locate_place", {"a": 1})]]
    assert text == "It is done. 42; at noon"


def test_no_tool_needed_is_a_reply_at_once():
    goal = Goal("Tell me a joke", (Plan(),))
    assert play(oracle(goal), asked(goal), [GEO]) == ([], "Done.")


def test_conditions_on_the_world_are_left_to_the_calls():
    goal = Goal("x", plan((called(GEO, a=1), ()), (Condition(), (0,))))
    assert play(oracle(goal), asked(goal), [GEO])[0] == [[("locate_place", {"a": 1})]]


def test_a_question_comes_before_what_it_asks_for():
    goal = Goal("Weather?", plan((Asked(("city",)), ()), (called(GEO, city="Bern"), (0,))))
    model = oracle(goal)
    rounds, question = play(model, asked(goal), [GEO])
    assert rounds == [] and "city" in question and "?" in question
    answered = [*asked(goal), Message("assistant", question), Message("user", "Bern")]
    assert play(model, answered, [GEO])[0] == [[("locate_place", {"city": "Bern"})]]


def test_the_orchestrator_passes_questions_on_and_else_replies():
    goal = Goal("Weather?", plan((Asked(("city",)), ()), (called(GEO, city="Bern"), (0,))), ("9",))
    model = oracle(goal)
    question = play(model, asked(goal), [GEO])[1]
    heard = [*asked(goal), Message("assistant", goal.text)]
    report = [*heard, Message("user", f"[execution_manager] {question}")]
    assert play(model, report, [], "orchestrator") == ([], question)
    report = [*heard, Message("user", "[execution_manager] all done")]
    assert play(model, report, [], "orchestrator") == ([], "9")


def test_what_a_world_answered_is_told_in_words():
    goal = Goal("x", plan((called(GEO, a=1), ())))
    call = ToolCall("", "locate_place", {"a": 1}, tool=GEO.id)
    told = Message("tool", "{'city': 'Bern', 'hour': 2}", call_id="")
    done = [*asked(goal), Message("assistant", "", (call,)), told]

    assert play(oracle(goal), done, [GEO])[1] == told.content
    assert play(oracle(goal, world="phone"), done, [GEO])[1] == "city: Bern, hour: 2"


def test_without_gold_the_orchestrator_repeats_the_report():
    goal = Goal("x")
    said = [*asked(goal), Message("user", "[execution_manager] It is 5.")]
    assert play(oracle(goal), said, [], "orchestrator") == ([], "It is 5.")


def test_the_planner_splits_and_the_verifier_accepts():
    goal = Goal("Find a hotel in Bern. Then book the first one.")
    model = oracle(goal)
    plan_text = model.complete(Request((Message("user", goal.text),), role="planner")).content
    assert plan_text.splitlines() == ["Find a hotel in Bern.", "Then book the first one."]
    assert model.complete(Request((), role="verifier")).content == "accepted"


def test_the_user_answers_a_question_once_and_then_ends():
    goal = Goal("Weather?", plan((Asked(), ()), (called(GEO, city="Bern"), (0,))))
    end = Tool("seal/user/end_conversation", "end_conversation")
    said = [
        Message("system", f"Goal: {goal.text}"),
        Message("assistant", goal.text),
        Message("user", "[orchestrator] Which city?"),
    ]
    model = oracle(goal)
    assert play(model, said, [end], "user_simulator") == ([], "city: Bern")
    said += [Message("assistant", "city: Bern"), Message("user", "[orchestrator] Anything else?")]
    answer = model.complete(Request(tuple(said), (end,), "user_simulator"))
    assert [call.name for call in answer.calls] == ["end_conversation"]


def test_a_user_without_an_end_speaks_the_next_goal():
    goals = Goal("First."), Goal("Second.")
    said = [Message("assistant", "First."), Message("user", "[orchestrator] Done.")]
    assert play(oracle(*goals), said, [], "user_simulator") == ([], "Second.")


def test_equal_goals_are_played_one_after_the_other():
    goal = Goal("Yes", plan((called(GEO, a=1), ())))
    model = oracle(goal, goal)
    first = [Message("user", "Yes")]
    assert play(model, first, [GEO])[0] == [[("locate_place", {"a": 1})]]
    call = ToolCall("c", "locate_place", {"a": 1})
    done = [*first, Message("assistant", "", (call,)), Message("tool", "{}", call_id="c")]
    assert play(model, done, [GEO]) == ([], "{}")
    again = [*done, Message("assistant", "{}"), Message("user", "Yes")]
    assert play(model, again, [GEO])[0] == [[("locate_place", {"a": 1})]]


@every_case(
    ("messages", "goal", "length"),
    [
        ([("user", "Book it")], 0, 1),
        ([("user", "Book it"), ("assistant", "ok"), ("user", "Pay it")], 1, 1),
        ([("user", "Earlier: Book it. Now: Pay it")], 1, 1),
        ([("user", "Pay it"), ("assistant", "what?"), ("user", "the bill"), ("user", "x")], 1, 4),
        ([("user", "Repay itself"), ("user", "Book it")], 0, 1),
        ([("system", "Goal: Pay it"), ("user", "[x] hello")], 1, 2),
        ([("user", "[orchestrator] Send the mail")], 2, 1),
        ([("user", "[orchestrator] Pay it"), ("user", "[verifier] rejected: no")], 1, 2),
        ([("user", "quite"), ("assistant", "ok"), ("user", "other words")], 1, 1),
        ([], 0, 0),
    ],
)
def test_the_goal_is_found_by_its_text(messages, goal, length):
    goals = ["Book it", "Pay it", "Send the mail and print the letter"]
    request = Request(tuple(Message(role, text) for role, text in messages))
    scene = find_scene(request, goals)
    assert (scene.goal, len(scene.messages)) == (goal, length)
