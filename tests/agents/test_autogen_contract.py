"""Every name of AutoGen that SEAL uses: an update that lacks one fails here."""

import importlib
import inspect

import pytest

from seal.agents.autogen import library

autogen = library()
NAMES = {
    "Agent": (),
    "ConversableAgent": (
        "_generate_code_execution_reply_using_executor",
        "_process_message_before_send",
        "_run_async_in_thread",
        "a_execute_function",
        "a_generate_reply",
        "can_execute_function",
        "chat_messages",
        "clear_history",
        "description",
        "execute_function",
        "function_map",
        "generate_code_execution_reply",
        "generate_reply",
        "generate_tool_calls_reply",
        "initiate_chat",
        "name",
        "register_function",
        "register_hook",
        "register_reply",
        "reset",
        "reset_consecutive_auto_reply_counter",
        "send",
        "stop_reply_at_receive",
        "system_message",
        "update_system_message",
        "update_tool_signature",
    ),
    "GroupChat": (
        "a_select_speaker",
        "agent_by_name",
        "agent_names",
        "nested_agents",
        "reset",
        "select_speaker",
    ),
    "GroupChatManager": ("groupchat",),
    "NoEligibleSpeakerError": (),
    "OpenAIWrapper": ("create",),
    "UserProxyAgent": (),
}


@pytest.mark.parametrize("name", NAMES)
def test_autogen_has_the_names_that_we_use(name):
    kind = getattr(autogen, name)
    assert [part for part in NAMES[name] if not hasattr(kind, part)] == []


def test_autogen_takes_the_arguments_that_we_give():
    agent = autogen.ConversableAgent
    pattern = importlib.import_module("autogen.agentchat.group.patterns").DefaultPattern
    given = {
        agent.__init__: [
            "code_execution_config",
            "description",
            "human_input_mode",
            "is_termination_msg",
            "llm_config",
            "max_consecutive_auto_reply",
            "system_message",
        ],
        agent.execute_function: ["func_call", "call_id", "verbose"],
        agent.generate_reply: ["messages", "sender", "exclude"],
        agent.generate_tool_calls_reply: ["messages"],
        agent.initiate_chat: ["recipient", "clear_history", "silent", "message"],
        agent.register_function: ["function_map", "silent_override"],
        agent.register_reply: ["trigger", "reply_func", "position"],
        agent.send: ["message", "recipient", "request_reply", "silent"],
        agent.update_tool_signature: ["tool_sig", "is_remove", "silent_override"],
        autogen.GroupChat.__init__: [
            "agents",
            "allow_repeat_speaker",
            "max_round",
            "messages",
            "select_speaker_auto_llm_config",
            "speaker_selection_method",
        ],
        autogen.GroupChatManager.__init__: ["groupchat", "silent"],
        autogen.GroupChat.select_speaker: ["last_speaker", "selector"],
        autogen.io.IOStream.set_default: ["stream"],
        pattern.prepare_group_chat: ["max_rounds", "messages"],
    }
    for function, names in given.items():
        parameters = inspect.signature(function).parameters
        assert [name for name in names if name not in parameters] == [], function


def test_an_agent_has_the_attributes_that_we_set_and_put_back():
    agent = autogen.ConversableAgent("a", llm_config=False)
    assert agent.client is None
    assert agent.llm_config is False
    assert agent._code_execution_config is False
    assert agent._default_auto_reply == ""
    assert agent.hook_lists["process_message_before_send"] == []
    assert isinstance(autogen.ConversableAgent.function_map, property)
    assert all("reply_func" in each for each in agent._reply_func_list)
    wrapper = autogen.OpenAIWrapper(config_list=[{"model": "m", "model_client_cls": "Mine"}])
    assert wrapper._config_list == [{"model": "m", "model_client_cls": "Mine"}]
    assert len(wrapper._clients) == 1
    assert wrapper.actual_usage_summary is wrapper.total_usage_summary is None


def test_a_reply_goes_through_functions_and_hooks_in_the_order_that_seats_rest_on():
    told = []
    agent = autogen.ConversableAgent("a", llm_config=False, human_input_mode="NEVER")
    other = autogen.ConversableAgent("b", llm_config=False, human_input_mode="NEVER")
    agent.register_hook("update_agent_state", lambda *given: told.append("state"))
    agent.register_hook("process_last_received_message", lambda text: told.append("last") or text)
    agent.register_hook(
        "process_all_messages_before_reply", lambda messages: told.append("all") or messages
    )
    agent.register_hook(
        "process_message_before_send",
        lambda sender, message, recipient, silent: told.append("send") or message,
    )
    place = len(agent._reply_func_list)
    agent.register_reply(
        [autogen.ConversableAgent, None], lambda *given, **named: (True, "ours"), position=place
    )
    assert agent.generate_reply([{"role": "user", "content": "Hi"}], sender=other) == "ours"
    agent.send("ours", other, request_reply=False, silent=True)
    assert told == ["state", "last", "all", "send"]


def test_a_group_chat_keeps_the_graph_and_the_manager_a_copy_that_we_make_the_chat_itself():
    agents = [autogen.ConversableAgent(name, llm_config=False) for name in "ab"]
    chat = autogen.GroupChat(agents, allow_repeat_speaker=True)
    assert chat.allowed_speaker_transitions_dict[agents[0]] == [agents[1], agents[0]]
    manager = autogen.GroupChatManager(chat, llm_config=False)
    configs = [each["config"] for each in manager._reply_func_list if each["config"] is not None]
    assert configs and all(config is not chat for config in configs)


def test_events_of_code_that_runs_have_the_names_that_we_refuse():
    from autogen.events import agent_events

    for name in ("ExecuteCodeBlockEvent", "GenerateCodeExecutionReplyEvent"):
        assert hasattr(agent_events, name)


def test_a_pattern_gives_the_manager_and_who_speaks_first_where_we_look_for_them():
    group = importlib.import_module("autogen.agentchat.group")
    patterns = importlib.import_module("autogen.agentchat.group.patterns")
    one = autogen.ConversableAgent("one", llm_config=False)
    prepared = patterns.DefaultPattern(one, [one]).prepare_group_chat(max_rounds=2, messages="-")
    assert isinstance(prepared[8], autogen.GroupChatManager)
    assert prepared[10] in prepared[8].groupchat.agents
    assert group.ContextVariables({"a": 1}).data == {"a": 1}
