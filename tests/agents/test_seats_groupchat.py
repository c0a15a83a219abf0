"""The group chat of a chat, handed out to whoever wants to drive it."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import seal
from seal.agents.autogen import Groups, library
from seal.api.benchmarks import load_pool

TASK = next(load_pool("sample").tasks()).id
OPTIONS = {"model": "oracle", "retriever": "oracle"}


def played(tmp_path) -> seal.Trajectory:
    run = seal.run("sample", first=1, baselines=False, out=tmp_path / "run", **OPTIONS)
    return next(run.folder.trajectories())


def test_it_holds_the_chat_that_a_run_holds(tmp_path):
    with seal.groupchat("sample", TASK, **OPTIONS) as group:
        group.hold()
        assert group.conversation.trajectory() == played(tmp_path)
        assert [message["name"] for message in group.chat.messages][:2] == [
            "user_simulator",
            "orchestrator",
        ]


def test_somebody_may_drive_it_reply_by_reply(tmp_path):
    with seal.groupchat("sample", **OPTIONS) as group:
        opening = group.open()
        group.agents["user_simulator"].send(opening, group.manager, request_reply=False)
        while (role := group.conversation.next_role) is not None:
            reply = group.agents[role].generate_reply(sender=group.manager)
            group.agents[role].send(reply, group.manager, request_reply=False, silent=True)
        assert group.conversation.trajectory() == played(tmp_path)


def test_the_clock_of_a_chat_starts_with_its_first_word():
    with seal.groupchat("sample", max_seconds=1, **OPTIONS) as group:
        time.sleep(1.1)
        group.hold()
        assert [stop.reason for stop in group.conversation.trajectory().stops] == ["done"]

    with seal.groupchat("sample", max_seconds=0.2, **OPTIONS) as group:
        user, orchestrator = group.agents["user_simulator"], group.agents["orchestrator"]
        user.send(group.open(), group.manager, request_reply=False, silent=True)
        time.sleep(0.3)
        reply = orchestrator.generate_reply(sender=group.manager)
        orchestrator.send(reply, group.manager, request_reply=False, silent=True)
        assert [stop.reason for stop in group.conversation.trajectory().stops] == ["max_seconds"]


def test_a_group_chat_of_somebody_elses_may_take_its_agents():
    autogen = library()
    with seal.groupchat("sample", team="direct", **OPTIONS) as group:
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


def shared(groups: Groups, task: str, **options) -> seal.Trajectory:
    with seal.groupchat("sample", task, **(options or OPTIONS)) as group:
        groups.play(group.conversation)
        return group.conversation.trajectory()


def test_chats_that_share_agents_hear_nothing_of_each_other():
    ids = [task.id for task in load_pool("sample").tasks()][:4]
    alone = [shared(Groups(), task) for task in ids]
    groups = Groups()
    assert [shared(groups, task) for task in ids] == alone
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda task: shared(groups, task), ids * 3)) == alone * 3


class Begun(list):
    """Groups that are free, as one that another thread takes at once."""

    conversation = None

    def append(self, group):
        group.begin(self.conversation)
        super().append(group)


def test_a_group_that_another_thread_takes_at_once_stays_open():
    groups = Groups()
    with (
        seal.groupchat("sample", TASK, **OPTIONS) as one,
        seal.groupchat("sample", TASK, **OPTIONS) as other,
    ):
        key = tuple(one.conversation.seats)
        groups._free[key] = Begun()
        groups._free[key].conversation = other.conversation
        groups.play(one.conversation)
        groups._free[key][0].hold()
        assert other.conversation.trajectory() == one.conversation.trajectory()


def test_chats_after_one_that_failed_are_as_if_it_had_not_been():
    groups, good = Groups(), shared(Groups(), TASK)
    down = {"model": "openai/x,max_tries=1", "base_url": "http://127.0.0.1:9/v1"}
    assert [stop.reason for stop in shared(groups, TASK, **down).stops] == ["error"]
    assert shared(groups, TASK) == good


def test_an_unknown_task_is_named():
    with (
        pytest.raises(seal.SealError, match="no task 'none'; known: "),
        seal.groupchat("sample", "none"),
    ):
        pass


def test_options_are_held_to_their_types():
    with pytest.raises(seal.SealError, match="top_k: expected a whole number"):
        seal.groupchat("sample", top_k="ten")
