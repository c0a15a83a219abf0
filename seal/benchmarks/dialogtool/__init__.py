"""DialogTool, from the Schema-Guided Dialogue corpus."""
