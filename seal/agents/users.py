"""Who plays the user: a model, or rules by which conversations run offline.

Both speak the goal's text first. A model (`UserSimulator`) then answers from its brief, and the
rules (`ScriptedUser`) as `seal.agents.scripted_user` says. What answers is imported then: most
goals end without a second word of the user.
"""

from __future__ import annotations

from seal.agents.offers import END, leave
from seal.agents.teams import EXECUTOR
from seal.core import Chat, Completion, Message, ModelError, Reply

_SAY = "You said nothing. Say your next words, or end the conversation by the tool."


def _only_thought(answer: Completion) -> bool:
    return bool(answer.reasoning) and not answer.calls and not answer.content.strip()


class UserSimulator:
    """Speaks the goal's text first; then, where there is a brief or a person, its model answers.

    For the model the sides are swapped: what the user said are the assistant's messages. Calls and
    results of the user are hidden from it.
    """

    def reply(self, chat: Chat) -> Reply:
        """Return the goal, an answer, or the end: a call of `end_conversation`, or no word."""
        if not any(s.author == chat.role and s.goal == chat.goal for s in chat.steps):
            return Reply(chat.request)
        from seal.agents.personas import brief, swapped

        view = [Message("system", brief(chat)), *swapped(chat.steps, chat.role)]
        answer = chat.complete(view, [END])
        if _only_thought(answer):  # its own silence would end the chat as if the user were content
            answer = chat.complete([*view, Message("user", _SAY)], [END])
            if _only_thought(answer):
                raise ModelError(
                    f"the model of {chat.role} thought twice and said nothing; let it think less, "
                    f"or give it more room: --role-model {chat.role}=MODEL,max_tokens=N"
                )
        if not answer.calls:
            return Reply(answer.content, done=not answer.content.strip())
        if EXECUTOR not in chat.roles:
            return leave(chat, answer.content)
        return Reply(answer.content, answer.calls)


class ScriptedUser:
    """Speaks the goal's text first, then answers by rule (`seal.agents.scripted_user`)."""

    def reply(self, chat: Chat) -> Reply:
        """Return the goal, an answer, or a call of `end_conversation`."""
        said = [s for s in chat.steps if s.goal == chat.goal and s.call is None]
        own = sum(step.author == chat.role for step in said)
        if not own:
            return Reply(chat.request)
        from seal.agents.scripted_user import scripted_answer

        texts = [
            step.content
            for step in said
            if step.author != chat.role and step.recipient == chat.role and step.result is None
        ]
        answer = scripted_answer(chat.persona or {}, chat.request, texts, own - 1, chat.goal)
        return leave(chat) if answer is None else Reply(answer)
