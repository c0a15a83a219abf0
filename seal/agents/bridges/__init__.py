"""Agents that run elsewhere, and reach a chat from there."""
