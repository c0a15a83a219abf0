"""What a chat needs, imported: the server from which worker processes are forked has it once."""

from seal.agents.autogen import library
from seal.runs.engine import Engine
from seal.runs.play import played

__all__ = ["Engine", "played"]

library()
