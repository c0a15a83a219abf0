"""SEAL evaluates language models and agents that use tools.

Importing it is free: the parts load when they are first used.
"""
