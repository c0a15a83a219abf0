"""Milestones drafted from what was done, for a person to check."""
