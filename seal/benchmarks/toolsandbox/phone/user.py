"""The tool of the user."""

from __future__ import annotations

from seal.benchmarks.toolsandbox.phone.device import PhoneWorld
from seal.environments.function_tools import effects


@effects(checks=("ended",), changes=("ended",))
def end_conversation(phone: PhoneWorld) -> None:
    """End the conversation, when everything was done or nothing more can be done."""
    if phone.ended:
        raise ValueError("the conversation has ended already")
    phone.ended = True
