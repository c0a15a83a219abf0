"""A group chat of AutoGen, of the user's own, as the agent: what it says last is the answer.

Every member with a model is offered the tools of the chat, and every member can run them: a call is
a call of the chat, and those of one message are made together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from seal.agents.guest_models import OUR_CONFIG, SPEAKING, Desk, text_of
from seal.agents.guests import Guest, group_of
from seal.agents.own import asked_of
from seal.agents.own_code import OwnCode
from seal.core import Chat, ToolCall, ToolResult


class GroupGuest(Guest):
    """A group chat of the user's own as the agent, in one chat.

    Args:
        code: Where it runs.
        guest: A `GroupChat`, or a manager of one.
        left: Called when the chat ends.
    """

    def __init__(self, code: OwnCode, guest: Any, left: Callable[[], None]) -> None:
        self._group = group_of(guest)
        members = self._group.nested_agents()
        super().__init__(code, members, left)
        self._manager = guest if guest is not self._group else self._managed()
        self._functions: list[tuple[Any, dict[str, Any]]] = []
        self._begun = False
        for one in self._agents:
            one.register_reply([self.autogen.Agent, None], _run_together, position=0)

    def _managed(self) -> Any:
        """Return a manager for a group chat that has none."""
        # By any other method AutoGen may ask a model who speaks next.
        asks = self._group.speaker_selection_method not in ("manual", "random", "round_robin")
        return self.autogen.GroupChatManager(
            groupchat=self._group,
            llm_config={"config_list": [{**OUR_CONFIG}]} if asks else False,
            silent=True,
            is_termination_msg=_is_last,
        )

    def answer(self, chat: Chat) -> Any:
        """Return the last words of the group about what it is asked."""
        with self.speaking(chat):
            self._offer(chat)
            first = len(self._group.messages) if self._begun else 0
            self.stand_in.initiate_chat(
                self._manager, message=asked_of(chat), clear_history=not self._begun, silent=True
            )
            self._begun = True
            said = self._group.messages[first + 1 :]
            return next((t for t in map(_answer, reversed(said)) if t), "")

    def _offer(self, chat: Chat) -> None:
        """Let every member call and run the tools of the chat; the calls are the chat's."""
        for one in self._agents:
            known = {tool.name: one.function_map.get(tool.name) for tool in chat.tools}
            self._functions.append((one, known))
            one.register_function(
                {tool.name: _runner(self.desk, tool.name) for tool in chat.tools},
                silent_override=True,
            )

    def close(self) -> None:
        """Forget the chat, and leave the group as it was."""
        for one, known in reversed(self._functions):
            one.register_function(known, silent_override=True)
        self._group.reset()
        for one in self._agents:
            replies = one._reply_func_list
            replies[:] = [each for each in replies if each["reply_func"] is not _run_together]
            one.clear_history(self._manager)
            one.reset_consecutive_auto_reply_counter(self._manager)
        super().close()


def _answer(message: Mapping[str, Any]) -> str:
    """Return the words of a message that answers; empty for calls, results and mere endings."""
    if message.get("tool_calls") or message.get("role") == "tool":
        return ""
    text = text_of(message.get("content")).strip()
    return "" if text == "TERMINATE" else text


def _is_last(message: Mapping[str, Any]) -> bool:
    return text_of(message.get("content")).rstrip().endswith("TERMINATE")


def _runner(desk: Desk, name: str) -> Callable[..., Any]:
    def run(**arguments: Any) -> str:
        (result,) = desk.chat.execute([ToolCall("", name, arguments)])
        return str(result.content)

    return run


def _run_together(
    agent: Any, messages: Any = None, sender: Any = None, config: Any = None
) -> tuple[bool, Any]:
    """Run all calls of the last message that are calls of offered tools together, in a guest."""
    desk = SPEAKING.get()
    made = messages[-1].get("tool_calls") if messages else None
    if desk is None or not made:
        return False, None
    offered = {tool.name for tool in desk.chat.tools}
    calls = {call["id"]: desk.call_of(call) for call in made}
    ours = [(name, call) for name, call in calls.items() if call.name in offered]
    if not ours:
        return False, None
    results = desk.chat.execute([call for _, call in ours])
    told = {name: result for (name, _), result in zip(ours, results, strict=True)}
    responses = [_response(agent, call, told.get(call["id"])) for call in made]
    content = "\n\n".join(one["content"] for one in responses)
    return True, {"role": "tool", "tool_responses": responses, "content": content}


def _response(agent: Any, call: dict[str, Any], result: ToolResult | None) -> dict[str, Any]:
    if result is not None:
        return {"tool_call_id": call["id"], "role": "tool", "content": result.content}
    _, found = agent.generate_tool_calls_reply(messages=[{"tool_calls": [call]}])
    response: dict[str, Any] = found["tool_responses"][0]
    return response
