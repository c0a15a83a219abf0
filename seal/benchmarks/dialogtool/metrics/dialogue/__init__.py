"""The tasks of a tool's life in dialogue, each scored as DialogTool publishes it and exactly.

`turns`: what gold says of a turn, and who said what. `awareness`: the action. `requests`: API and
arguments. `replies`, `bleu`, `tokens`: the utterance. `roles`: the character it is said in.
`metrics`: all of them as one metric. `corpus`: figures of a whole run. Source: DialogTool, sections
4 and 5; its turn-level scoring is AppBench's.
"""
