"""ToolBench and StableToolBench: queries, answer trees, converted answers, response examples."""
