"""Lets AutoGen choose who speaks next in a chat of ours, by the model of a role of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seal.agents.guest_models import OUR_CONFIG, SPEAKING, Desk, route
from seal.agents.teams import SPEAKER_SELECTION
from seal.agents.view import Stamp, View


class SpeakerChoice:
    """Asks a model who speaks after a text, as AutoGen's `auto` does.

    Args:
        autogen: The library.
        chat: What was said so far.
        agents: Role to its agent.
    """

    def __init__(self, autogen: Any, chat: Any, agents: dict[str, Any]) -> None:
        self._autogen = autogen
        self._chat = chat
        self._agents = agents
        route(autogen)

    def __call__(self, view: View, said: str, among: Sequence[str]) -> str:
        """Return the role that speaks next; tokens count for who spoke last.

        Args:
            view: The chat as the role sees it that spoke.
            said: Its text.
            among: Roles that may speak.
        """
        if len(among) < 2:
            return among[0]
        asking = view.as_seen_by(SPEAKER_SELECTION)
        desk = Desk(lambda agent: False)
        desk.chat = asking
        last = {"role": "user", "name": view.role, "content": said}
        chat = self._autogen.GroupChat(
            agents=[self._agents[role] for role in among],
            messages=[*self._chat.messages, last],
            speaker_selection_method="auto",
        )
        manager = self._autogen.GroupChatManager(
            groupchat=chat, llm_config={"config_list": [{**OUR_CONFIG}]}, silent=True
        )
        token = SPEAKING.set(desk)
        try:
            chosen = chat.select_speaker(self._agents[view.role], manager)
        finally:
            SPEAKING.reset(token)
            view.asked = view.asked + Stamp(asking.asked.usage)
        return str(chosen.name)
