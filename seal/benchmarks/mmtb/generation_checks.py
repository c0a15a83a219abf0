"""Machine checks of a finished dialogue: what a set of missions is worth is decided here.

- `unknown_tool`, `invalid_call`: a gold call names no tool of the pool or of the dialogue, or its
  arguments do not fit the schema.
- `cyclic_dependencies`: the gold is no partial order.
- `another_observation`: the run's simulator answers a gold call otherwise, or not at all.
- `unsolved`: the oracle, playing the whole dialogue in the replay, does not get 1.0 for a mission.
- `nothing_missing`, `said_before`: a question asks for what the user had said.
- `leans_on_nothing`: a mission that was to lean on earlier ones needs nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seal.agents import build_agent
from seal.agents.autogen import play
from seal.agents.conversation import Conversation, Services
from seal.agents.teams import DIRECT, USER
from seal.benchmarks.mmtb.generation_scene import lacks, leans, said_of, told_before
from seal.benchmarks.mmtb.generation_team import Fault
from seal.core import (
    DataError,
    Goal,
    Milestone,
    Plan,
    Simulator,
    SimulatorError,
    Task,
    Tool,
    ToolCall,
    Verdict,
    levels,
)
from seal.core.conditions import Asked, Called
from seal.core.validation import CallValidator
from seal.core.values import equal
from seal.environments.replay import Replay
from seal.evaluation.missions import Missions
from seal.models.oracle import Oracle
from seal.simulator_cache.simulators import SimulatedEnvironments


class Validation:
    """Checks dialogues. Safe in threads where the simulator is.

    Args:
        tools: Of the pool, by id.
        simulator: Answered the gold calls.
    """

    def __init__(self, tools: Mapping[str, Tool], simulator: Simulator) -> None:
        self._tools = tools
        self._validator = CallValidator(tools)
        self._environments = SimulatedEnvironments(simulator, tools)

    def faults(self, task: Task) -> list[Fault]:
        """Return what is wrong with a generated dialogue; empty: it is valid.

        Args:
            task: As `seal.benchmarks.mmtb.importer` makes it.

        Raises:
            InfrastructureError: The simulator's server or store failed, so that nothing is known.
        """
        found = [fault for n, goal in enumerate(task.goals) for fault in self._of_gold(n, goal)]
        if found:
            return found
        for number, goal in enumerate(task.goals):
            found += self._of_results(task, number, goal)
            found += self._of_words(task, number)
        return found or self._unsolved(task)

    def _of_gold(self, number: int, goal: Goal) -> Iterator[Fault]:
        """Yield what is wrong with the gold as it stands."""
        plan = _plan(goal)
        if not plan.milestones:
            yield Fault(number, "empty_mission", "the mission has no gold step")
        try:
            levels([milestone.after for milestone in plan.milestones])
        except DataError as error:
            yield Fault(number, "cyclic_dependencies", str(error))
        for called in plan.calls():
            if called.tool not in self._tools or called.tool not in (goal.offered or ()):
                yield Fault(number, "unknown_tool", f"{called.tool} is not offered")
        for _, call in self._calls(plan):
            wrong = self._validator.check(call)
            if wrong is not None:
                yield Fault(number, "invalid_call", f"{call.name}: {wrong.message}")

    def _of_results(self, task: Task, number: int, goal: Goal) -> Iterator[Fault]:
        """Yield the gold calls that the simulator answers otherwise."""
        environment = self._environments.open(task, 0)
        for milestone, call in self._calls(_plan(goal)):
            try:
                (result,) = environment.call([call])
            except SimulatorError as error:
                yield Fault(number, "another_observation", f"{call.name}: {error}")
                continue
            if not equal(result.value, milestone.result):
                text = f"{call.name} with {call.arguments} is answered otherwise"
                yield Fault(number, "another_observation", text)

    def _calls(self, plan: Plan) -> Iterator[tuple[Milestone, ToolCall]]:
        """Yield the gold steps that are calls, each with its call, optional arguments and all."""
        for position, milestone in enumerate(plan.milestones):
            called = milestone.condition
            if isinstance(called, Called) and called.tool in self._tools:
                tool = self._tools[called.tool]
                given = (called.arguments or {}).items()
                values = {name: argument.listed[0] for name, argument in given}
                yield milestone, ToolCall(f"call_{position}", tool.name, values, tool=tool.id)

    def _of_words(self, task: Task, number: int) -> Iterator[Fault]:
        """Yield what a mission's words do not bear out."""
        goal, said = task.goals[number], said_of(task, number)
        if any(isinstance(milestone.condition, Asked) for milestone in _plan(goal).milestones):
            if not lacks(goal, said, self._tools):
                yield Fault(number, "nothing_missing", "the request says all that is required")
            for value in told_before(goal, said):
                text = f"the user is asked for {value!r}, which was said"
                yield Fault(number, "said_before", text)
        relation = goal.labels.get("relation")
        if relation and not leans(goal, said, relation == "memory"):
            text = f"by {relation} it should lean on earlier missions, but it needs nothing of them"
            yield Fault(number, "leans_on_nothing", text)

    def _unsolved(self, task: Task) -> list[Fault]:
        """Return where the oracle fails that plays the missions, each after its own former ones."""
        oracle = Oracle().open(task, 0)
        team = DIRECT.seat(USER, "scripted")
        services = Services(
            model=lambda role: oracle,
            environment=Replay(task),
            retrieve=lambda query, k: [],
            judge=lambda role, model, goal, answer, steps: Verdict("unsure"),
        )
        goals = tuple(range(len(task.goals)))
        chat = Conversation(
            task,
            0,
            team,
            {role: build_agent(agent) for role, agent in team.roles.items()},
            services,
            {n: [self._tools[own] for own in task.goals[n].offered or ()] for n in goals},
            goals=goals,
            history=task.history,
        )
        play(chat)
        return [
            Fault(score.goal or 0, "unsolved", f"the oracle gets {score.value}: {score.reason}")
            for score in Missions().score(task, chat.trajectory(), self._tools)
            if score.metric == "mission_accuracy" and score.value != 1.0
        ]


def _plan(goal: Goal) -> Plan:
    return goal.plans[0] if goal.plans else Plan()
