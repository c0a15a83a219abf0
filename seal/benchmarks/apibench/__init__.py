"""APIBench, Gorilla's three model hubs."""
