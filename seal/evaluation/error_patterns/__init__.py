"""What an agent does wrong with tools, step by step and beside gold: ToolScan's seven patterns.

`diagnose` gives a finding for each step of a chat, `repairs` what followed on errors (`findings`).
`services` tells whose fault a failure is, and `gold` compares calls with plans. `metrics` makes
scores of it all.
"""
