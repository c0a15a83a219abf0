"""Dialogues of missions, made by five roles that talk: user, planner, tool, agent and checker."""
