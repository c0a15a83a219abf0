"""The virtual mobile: apps whose calls bring what they once brought in recorded dialogues."""
