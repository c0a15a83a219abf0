"""The tasks of a tool's life in dialogue, each scored as DialogTool publishes it and exactly."""
