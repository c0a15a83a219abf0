"""ToolSandbox: its scenarios as tasks of the phone, its trajectories as runs."""
