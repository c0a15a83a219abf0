"""Harder queries made of a pool's: constraints, paraphrases, and requests that no tool serves."""
