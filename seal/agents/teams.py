"""Teams as data: who is seated, and who speaks after whom where a reply names nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from seal.core import JSON, Goal, OptionError, Reply, Step, Task, UsageError, nearest, shortened
from seal.core.conditions import SYSTEM
from seal.core.registry import Registry
from seal.core.settings import checked_names

USER = "user_simulator"
EXECUTOR = "executor"
MANAGER = "execution_manager"
PLANNER = "planner"
VERIFIER = "verifier"
CHECKER = "checker"
Sight = Literal["all", "own"]
"""What a role sees of the chat: everything, or what it said and what was said to it."""
ORCHESTRATOR = "orchestrator"
Selection = Literal["team", "auto"]
"""Who says who speaks after a text that names nobody: the team, or AutoGen by a model."""
SELECTION = "selection"
"""Option of every team, a `Selection`."""
SPEAKER_SELECTION = "speaker_selection"
"""Whose model chooses who speaks next, where AutoGen chooses."""
DESCRIPTIONS = {
    USER: "Asks for something, and hears the final response.",
    ORCHESTRATOR: "Hands steps on and gives the final response.",
    PLANNER: "Splits a request into steps.",
    MANAGER: "Calls tools and reports what they brought.",
    EXECUTOR: "Runs calls.",
    VERIFIER: "Says whether results serve the request.",
    CHECKER: "Says whether the final response solves the request.",
}
"""Role to what AutoGen is told of it."""

REGISTRY = Registry(
    "team",
    "seal.teams",
    {
        "full": "seal.agents.teams:FULL",
        "direct": "seal.agents.teams:DIRECT",
        "single": "seal.agents.teams:SINGLE",
    },
)


@checked_names
@dataclass(frozen=True, slots=True)
class Team:
    """Roles and the rule of who speaks next.

    A reply with calls goes to the executor. The results go back to the caller, through `reviewer`
    where that role is seated. A text goes where `after` says. A role that is not seated is passed
    over; where nobody is left, the chat about the goal ends.

    Example:
        >>> import seal
        >>> from seal.agents.teams import DIRECT
        >>> class Editor:
        ...     def reply(self, chat: seal.Chat) -> seal.Reply:
        ...         return seal.Reply(chat.steps[-1].content.strip())
        >>> team = DIRECT.seat("editor", Editor, after="execution_manager")
        >>> run = seal.run("sample", team=team, model="oracle", limit=2, baselines=False)
        >>> run["call_recall"].mean
        1.0
    """

    name: str
    roles: Mapping[str, Any]
    """Role to agent, class, name or dotted path."""
    lead: str
    """Role that hears the user. The final response is the last text to the user or the checker."""
    after: Mapping[str, tuple[str, ...]]
    """Role to those who may speak after its text, the first one seated does."""
    reviewer: str = VERIFIER
    """Role that sees results before their caller does."""
    one_reply: bool = False
    """True: the lead's first reply ends the goal, whatever it is."""
    optional: Set[str] = field(default_factory=frozenset)
    """Roles that a user may seat by flag and that are empty otherwise."""
    sight: Mapping[str, Sight] = field(default_factory=lambda: {USER: "own"})
    """Role to what it sees; roles that are not named see all."""
    models: Mapping[str, Any] = field(default_factory=dict)
    """Role to the model that it has where the user names none, instead of the run's."""
    one_voice: str | None = None
    """Role in whose name the agent's part of earlier goals is told; None: the lead passes on what
    the execution manager does, as in a chat."""
    variants: Mapping[str, Team] = field(default_factory=dict)
    """Name to a team that plays some goals instead of this one."""
    variant_of: Callable[[Goal], str] | None = None
    """A goal to the name of the variant that plays it; empty, and None: this team does."""
    measured: Mapping[str, JSON] = field(default_factory=dict)
    """Options that decide what is asked of the roles, which see them in `chat.options`."""
    arranged: Mapping[str, JSON] = field(default_factory=dict)
    """Options that decide how it is asked; roles see them too."""
    facts: Callable[[Task, int], Mapping[str, JSON]] | None = None
    """(task, seed of the run) to what the roles are told of one task in `chat.options`; it is kept
    in the trajectory's provenance. None: nothing."""

    def playing(self, goal: Goal) -> Team:
        """Return the team that plays a goal: this one, or one of its variants."""
        name = "" if self.variant_of is None else self.variant_of(goal)
        return self.variants[name] if name else self

    def every_role(self) -> set[str]:
        """Return the roles that it has or may have, its variants' too."""
        inner = (team.every_role() for team in self.variants.values())
        return {*self.roles, *self.optional}.union(*inner)

    def seat(self, role: str, agent: Any, after: str | None = None) -> Team:
        """Return a team with one more role, or another agent in a role.

        Args:
            role: Its name in the chat.
            agent: Agent, class, name or dotted path.
            after: Role after whose text it speaks; it then hands on to whom that role spoke before.

        Raises:
            UsageError: `after` is no role of the team, or the role speaks there already; or it
                would never speak.
        """
        if not role.strip() or after == EXECUTOR:
            raise UsageError(
                f"role {role!r} after {after!r} would never speak: a role needs a name, and what "
                f"the {EXECUTOR} brings goes to who called; seat a {VERIFIER} to see it first"
            )
        variants = {
            label: team.seat(role, agent) if role in team.every_role() else team
            for label, team in self.variants.items()
        }
        if after is None and role not in {*self.roles, *self.optional} and variants:
            return replace(self, variants=variants)
        order = dict(self.after)
        if after is not None:
            if after not in {*self.roles, *self.optional}:
                raise UsageError(
                    f"no role {after!r} in team {self.name}; "
                    f"it has: {', '.join(sorted(self.roles))}"
                )
            if order.get(after) == (role,):
                raise UsageError(
                    f"the role {role!r} speaks after {after!r} already in team {self.name}; "
                    "to give it another agent, leave out after="
                )
            order[role] = tuple(name for name in order.get(after, ()) if name != role)
            order[after] = (role,)
        return replace(self, roles={**self.roles, role: agent}, after=order, variants=variants)

    def without(self, role: str) -> Team:
        """Return a team in which nobody plays a role.

        Raises:
            UsageError: The chat cannot do without it.
        """
        if role in (self.lead, USER, EXECUTOR):
            raise UsageError(f"team {self.name} cannot do without the role {role!r}")
        variants = {label: team.without(role) for label, team in self.variants.items()}
        seats = {name: agent for name, agent in self.roles.items() if name != role}
        return replace(self, roles=seats, variants=variants)

    def visible(self, steps: Sequence[Step], role: str) -> Sequence[Step]:
        """Return the steps that a role sees, in order; of the system's those to itself."""
        if self.sight.get(role, "all") == "all":
            if not any(step.author == SYSTEM and step.recipient != role for step in steps):
                return steps
            return [step for step in steps if step.author != SYSTEM or step.recipient == role]
        return [step for step in steps if role in (step.author, step.recipient)]

    def next(
        self, author: str, reply: Reply, caller: str, seated: Set[str], conversing: bool
    ) -> str | None:
        """Return the role that speaks after a reply; None ends the chat about the goal.

        Calls end it, too, where no executor is seated.

        Args:
            author: Role that replied.
            reply: What it said.
            caller: Role whose calls were run last.
            seated: Roles in this chat.
            conversing: True where the user answers (a persona), so that the checker keeps out.
        """
        if reply.done:
            return None
        if reply.next is not None:
            return reply.next
        if reply.calls:
            return EXECUTOR if EXECUTOR in seated else None
        if reply.results:
            return self.reviewer if self.reviewer in seated else caller
        for name in self.after.get(author, ()):
            wanted = conversing if name == USER else not (conversing and name == CHECKER)
            if name in seated and wanted:
                return name
        return None


FULL = Team(
    name="full",
    roles={role: role for role in (USER, ORCHESTRATOR, MANAGER, EXECUTOR, CHECKER)},
    lead=ORCHESTRATOR,
    after={
        **dict.fromkeys((USER, PLANNER, MANAGER), (ORCHESTRATOR,)),
        ORCHESTRATOR: (CHECKER, USER),
        VERIFIER: (MANAGER,),
    },
    optional=frozenset({PLANNER, VERIFIER}),
)
"""user_simulator -> orchestrator -> [planner] -> execution_manager <-> executor -> orchestrator,
then the checker, or the user where there is a persona."""

DIRECT = Team(
    name="direct",
    roles={role: role for role in (USER, MANAGER, EXECUTOR)},
    lead=MANAGER,
    after={USER: (MANAGER,), MANAGER: (CHECKER, USER), VERIFIER: (MANAGER,)},
    optional=frozenset({VERIFIER, CHECKER}),
)
"""user_simulator, execution_manager, executor: as ToolSandbox, MMTB and ToolScan were published."""

SINGLE = Team(
    name="single",
    roles={USER: USER, MANAGER: MANAGER},
    lead=MANAGER,
    after={USER: (MANAGER,)},
    one_reply=True,
)
"""user_simulator and the role under test, one reply: DialogTool's tasks."""


@runtime_checkable
class ArrangedTeam(Protocol):
    """A team whose seats depend on options of the run."""

    options: Set[str]
    """Names of the options (`-T key=value`) that it takes; all others are a world's."""

    def arrange(self, options: Mapping[str, Any]) -> Team:
        """Return the team under the options that were given.

        Raises:
            OptionError: A value that an option cannot have; names those that it can.
        """
        ...


def team_options(what: Any) -> Set[str]:
    """Return the names of the options that a team takes: `selection`, and its own.

    Raises:
        UnknownNameError: No team of that name.
    """
    found = _found(what)
    return {SELECTION, *(found.options if isinstance(found, ArrangedTeam) else ())}


def selection_of(options: Mapping[str, Any]) -> Selection:
    """Return who chooses the next speaker after a text that names nobody.

    Args:
        options: Of the team.

    Raises:
        OptionError: Neither the team, nor AutoGen by a model.
    """
    named = options.get(SELECTION, "team")
    if named not in get_args(Selection):
        raise OptionError(f"-T {SELECTION}={named}: expected {' or '.join(get_args(Selection))}")
    chosen: Selection = named
    return chosen


def _found(what: Any) -> Any:
    if isinstance(what, str) and "/" in what and ":" not in what and what not in REGISTRY:
        fault = "it is a file" if Path(what).is_file() else "there is no such file"
        raise UsageError(
            f"team {what!r}: {fault}, and no team is read from one; "
            f"give module:NAME, or one of {', '.join(REGISTRY.names())}"
        )
    found = REGISTRY.resolve(what)
    if not isinstance(found, Team | ArrangedTeam):
        raise UsageError(f"{shortened(found)} is no team; give a seal.Team, or the name of one")
    return found


def build_team(
    what: Any, roles: Mapping[str, Any], options: Mapping[str, Any] | None = None
) -> Team:
    """Return a team by object or name, with the roles that the user replaced.

    Args:
        what: Team, its name or dotted path, or an `ArrangedTeam`.
        roles: Role to the agent that plays it; to None where nobody is to.
        options: Of the run; a team takes those that `team_options` names.

    Raises:
        UnknownNameError: No team of that name.
        UsageError: A role that the team neither has nor may have, or an option of no sense, or the
            name `none` for an agent.
    """
    found = _found(what)
    if isinstance(found, ArrangedTeam):
        found = found.arrange({k: v for k, v in (options or {}).items() if k in found.options})
    team: Team = found
    known = team.every_role()
    for role, agent in roles.items():
        if role not in known:
            close = nearest(role, known)
            raise UsageError(
                f"team {team.name} has no role {role!r}; it has: {', '.join(sorted(known))}. "
                f"{f'Did you mean {close!r}? ' if close else ''}"
                f"Seat a new one with Team.seat(role, agent, after=...)"
            )
        if agent == "none":
            raise UsageError(f"roles[{role!r}] is 'none'; give None, and nobody plays the role")
        team = team.without(role) if agent is None else team.seat(role, agent)
    return team
