"""Ablations: the same tasks under conditions that differ in one thing, and what that thing does.

Source: Kokane et al., ToolScan (2024), which varies feedback, format, irrelevance, the likeness of
API names and the style of the agent.
"""
