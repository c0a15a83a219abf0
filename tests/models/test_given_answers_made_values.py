"""The oracle takes what a world made anew in this chat, such as ids, from this chat's results."""

import pytest

from seal.core import Goal, Message, Request, Step, Task, Tool, ToolCall, ToolResult
from seal.models.spec import build_model, open_model

ADD = Tool("phone/reminder/add_reminder", "add")
CHANGE = Tool("phone/reminder/modify_reminder", "change")
AGENT, EXECUTOR, USER = "execution_manager", "executor", "user_simulator"


def step(index, author, recipient, content="", call=None, result=None):
    return Step(index, author, recipient, content, call, result, turn=index)


def call(call_id, tool, **arguments):
    return ToolCall(call_id, tool.name, arguments, tool=tool.id)


REFERENCE = (
    step(0, USER, AGENT, "Add it, then change it."),
    step(1, AGENT, EXECUTOR, call=call("call_0", ADD, content="soup", amount=1)),
    step(2, EXECUTOR, AGENT, "['gold-id', 1]", result=ToolResult("call_0", "['gold-id', 1]")),
    step(3, AGENT, USER, "Added."),
    step(4, USER, AGENT, "Now change it."),
    step(5, AGENT, EXECUTOR, call=call("call_1", CHANGE, ids=["gold-id", "kept"], amount=1)),
    step(6, EXECUTOR, AGENT, "None", result=ToolResult("call_1", "None")),
    step(7, AGENT, USER, "Changed."),
)


def next_calls(told, world="phone", made=(ADD,)):
    task = Task("t", "b", (Goal("Add it, then change it.", reference=REFERENCE),), world=world)
    model = open_model(build_model("oracle"), task, 0)
    messages = [
        Message("user", "Add it, then change it."),
        Message("assistant", "", (call("call_0", made[0], content="soup", amount=1),)),
        Message("tool", told, call_id="call_0"),
        Message("assistant", "Added."),
        Message("user", "Now change it."),
    ]
    return model.complete(Request(tuple(messages), (ADD, CHANGE), AGENT)).calls


def test_an_id_of_an_earlier_result_is_this_chats():
    (made,) = next_calls("['new-id', 2]")

    assert made.arguments == {"ids": ["new-id", "kept"], "amount": 1}


@pytest.mark.parametrize("told", ["no ( python", "{'another': 'shape'}", "['gold-id', 1]", "[]"])
def test_what_a_result_does_not_tell_stays_as_the_reference_has_it(told):
    (made,) = next_calls(told)

    assert made.arguments == {"ids": ["gold-id", "kept"], "amount": 1}


def test_outside_of_worlds_the_reference_is_played_as_it_stands():
    (made,) = next_calls("['new-id', 2]", world="")

    assert made.arguments["ids"] == ["gold-id", "kept"]


def test_texts_of_a_reference_without_calls_are_said_in_order():
    spoken = tuple(s for s in REFERENCE if s.call is None and s.result is None)
    task = Task("t", "b", (Goal("Add it, then change it.", reference=spoken),), world="phone")
    model = open_model(build_model("oracle"), task, 0)
    asked = Message("user", "Add it, then change it.")

    first = model.complete(Request((asked,), (), AGENT))
    then = (asked, Message("assistant", "Added."), Message("user", "Now change it."))

    assert first.content == "Added."
    assert model.complete(Request(then, (), AGENT)).content == "Changed."
