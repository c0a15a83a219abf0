"""Agents that run elsewhere, and reach a chat from there."""

from seal.agents.bridges.bridge import Bridge

__all__ = ["Bridge"]
