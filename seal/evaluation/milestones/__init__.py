"""How well a chat keeps to milestones and off minefields.

`plans` shows a trajectory as milestones see it and makes one number of a plan, `matching` finds the
best match, `metrics` the scores of a run, `faults` what is missing.
`checks` is for whoever writes plans.
"""
