"""Data made from data: milestones drafted from what was done."""
