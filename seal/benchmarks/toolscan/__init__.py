"""ToolScan: the API lists of its environments, and queries in its input format."""
