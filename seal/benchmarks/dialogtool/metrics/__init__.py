"""Metrics of turns of dialogues, of created tools and of what was booked."""
