"""How runs over dialogues are reported."""
