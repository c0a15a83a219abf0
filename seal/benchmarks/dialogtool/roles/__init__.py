"""The life of a tool in dialogue: roles that are aware of tools, request, respond, act, create.

Source: DialogTool; the prompts are our own, their contents those of the paper (spec, section 5).
"""
