"""What a chat needs, imported: the server from which worker processes are forked has it once."""

from seal.agents.autogen import library
from seal.runs.engine import Engine

__all__ = ["Engine"]

library()
