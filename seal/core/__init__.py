"""The vocabulary and the rules that every other part shares."""
