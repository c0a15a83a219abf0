"""The virtual mobile: apps whose calls bring what they once brought in recorded dialogues.

`recordings` reads what was recorded, `answers` finds the answer to a call in it, `effects` makes
bookings visible to later look-ups, `spoken` tells what a user has confirmed, and `world` puts them
together. Source: DialogTool (2025), virtual mobile environment; rules of AppBench's environment.
"""
