"""The verbs, one module each.

A module here is a verb: its name is the verb's (`_` stands for `-`, a last `_` keeps a Python
keyword apart), the first line of its docstring is the verb's line in `seal --help`, and its `app`
is a `typer.Typer` with one command, or with several for a verb that has its own verbs. A command
returns its exit code. Only the module of the verb that is called is imported.
"""
