"""The group chat of a chat, handed out to whoever wants to drive it."""

import pytest

import seal
from seal.agents.autogen import library
from seal.api.chats import groupchat
from seal.api.pools import load_pool

TASK = next(load_pool("sample").tasks()).id
OPTIONS = {"model": "oracle", "retriever": "oracle"}


def played(tmp_path) -> seal.Trajectory:
    run = seal.run("sample", limit=1, baselines=False, out=tmp_path / "run", **OPTIONS)
    return next(run.folder.trajectories())


def test_it_holds_the_chat_that_a_run_holds(tmp_path):
    with groupchat("sample", TASK, **OPTIONS) as group:
        group.hold()
        assert group.conversation.trajectory() == played(tmp_path)
        assert [message["name"] for message in group.chat.messages][:2] == [
            "user_simulator",
            "orchestrator",
        ]


def test_somebody_may_drive_it_reply_by_reply(tmp_path):
    with groupchat("sample", **OPTIONS) as group:
        group.open()
        while (role := group.conversation.next_role) is not None:
            group.agents[role].generate_reply([{"content": "go on"}], sender=group.manager)
        assert group.conversation.trajectory() == played(tmp_path)


def test_a_group_chat_of_somebody_elses_may_take_its_agents():
    autogen = library()
    with groupchat("sample", team="direct", **OPTIONS) as group:
        opening = group.open()
        others = autogen.GroupChat(
            list(group.agents.values()),
            max_round=4,
            speaker_selection_method=lambda last, chat: group.agents.get(
                group.conversation.next_role
            ),
        )
        manager = autogen.GroupChatManager(others, llm_config=False, silent=True)
        group.agents["user_simulator"].initiate_chat(manager, message=opening, silent=True)
        assert [message["name"] for message in others.messages] == [
            "user_simulator",
            "execution_manager",
            "executor",
            "execution_manager",
        ]
        assert [stop.reason for stop in group.conversation.trajectory().stops] == ["done"]


def test_an_unknown_task_is_named():
    with (
        pytest.raises(seal.SealError, match="no task 'none'; known: "),
        groupchat("sample", "none"),
    ):
        pass


def test_options_are_held_to_their_types():
    with pytest.raises(seal.SealError, match="top_k: expected a whole number"):
        groupchat("sample", top_k="ten")
