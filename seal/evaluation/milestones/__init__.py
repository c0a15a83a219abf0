"""How well a chat keeps to milestones and off minefields.

`plans` shows a trajectory as milestones see it and makes one number of a plan. `matching` finds the
best match, `metrics` has the scores of a run, and `faults` says what is missing. `checks` is for
whoever writes plans.
"""
