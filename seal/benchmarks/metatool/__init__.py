"""MetaTool."""
