"""Plays scenarios of a checkout by upstream's own roles, whose models are scripted.

It is run by an interpreter that has upstream's packages:

    PYTHON toolsandbox_child.py CHECKOUT < SCRIPTS

Standard input has {scenario: {"agent": [ANSWER, ...], "user": [ANSWER, ...]}}; an answer is a text
or a list of [tool, arguments]. Standard output gets {scenario: {"agent": [REQUEST, ...], "user":
[...]}}, each request with the messages and tools that upstream would send.
"""

import copy
import json
import sys
from types import SimpleNamespace


def answer_of(said, number):
    """Return an answer as the client of OpenAI gives it."""
    calls = None
    if not isinstance(said, str):
        calls = [
            SimpleNamespace(
                id=f"call_{number}_{place}",
                function=SimpleNamespace(name=name, arguments=json.dumps(arguments)),
            )
            for place, (name, arguments) in enumerate(said)
        ]
    message = SimpleNamespace(content=said if calls is None else None, tool_calls=calls)
    return SimpleNamespace(choices=[SimpleNamespace(message=message)])


def scripted(role, answers, requests):
    """Return a role of upstream's that keeps what it asks and gets these answers."""

    class Scripted(role):
        def __init__(self):
            pass

        def model_inference(self, openai_messages, openai_tools):
            tools = list(openai_tools) if openai_tools else []
            asked = {"messages": openai_messages, "tools": tools}
            requests.append(copy.deepcopy(asked))
            return answer_of(answers[len(requests) - 1], len(requests))

    return Scripted()


def main(checkout):
    """Play the scenarios that standard input names."""
    sys.path.insert(0, checkout)
    from tool_sandbox.common.execution_context import RoleType
    from tool_sandbox.common.tool_discovery import ToolBackend
    from tool_sandbox.roles.execution_environment import ExecutionEnvironment
    from tool_sandbox.roles.openai_api_agent import OpenAIAPIAgent
    from tool_sandbox.roles.openai_api_user import OpenAIAPIUser
    from tool_sandbox.scenarios import named_scenarios

    scenarios = named_scenarios(ToolBackend.DEFAULT)
    asked = {}
    for name, script in json.load(sys.stdin).items():
        asked[name] = {"agent": [], "user": []}
        roles = {
            RoleType.AGENT: scripted(OpenAIAPIAgent, script["agent"], asked[name]["agent"]),
            RoleType.USER: scripted(OpenAIAPIUser, script["user"], asked[name]["user"]),
            RoleType.EXECUTION_ENVIRONMENT: ExecutionEnvironment(),
        }
        scenarios[name].play(roles=roles, scenario_name=name)
    json.dump(asked, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
