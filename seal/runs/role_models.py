"""The models of a run: which one each role has, opened for each chat, its answers cached.

A model that plays a recording finds it here. Offline models in roles that a benchmark's own teams
have answer what the benchmark says (`with_roles`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.agents import REGISTRY as AGENTS
from seal.agents.roles import Prompt
from seal.agents.teams import MANAGER, USER, Team
from seal.core import (
    JSON,
    CacheMode,
    ChatModel,
    Completion,
    Goal,
    Judge,
    Lookup,
    Message,
    NoVerdictError,
    Request,
    Step,
    Task,
    Trajectory,
    UnknownNameError,
    UsageError,
    Verdict,
    nearest,
)
from seal.core.files import content_of
from seal.core.registry import load_dotted
from seal.core.secrets import public_url
from seal.core.store import Store
from seal.core.text import THEIRS, filled, variables_in
from seal.core.values import derive_seed
from seal.evaluation.rule_judge import RuleJudge
from seal.models.presentation import Example, Presentation, presentation_identity, presented
from seal.models.spec import (
    Flagged,
    Model,
    account_of,
    build_model,
    is_cached,
    is_offline,
    model_identity,
    open_model,
    options_of,
    shown_at,
    split_name,
)
from seal.pools.benchmark import Benchmark
from seal.pools.pool import StoredPool
from seal.retrievers.build import layers
from seal.runs.costs import Admitted, Meter, Metered
from seal.runs.run import RunFolder
from seal.runs.settings import LIMITS, RunSettings

if TYPE_CHECKING:
    from seal.core.servers import Standing
    from seal.pools.pool import StoredPool
    from seal.runs.settings import RunSettings


def find_recording(name: str, pool: StoredPool | None) -> Lookup:
    """Return the look-up of what `recorded:NAME` or `replay:RUN` plays.

    A recording has one trial, which is played in every trial of a run.

    Raises:
        UnknownNameError: The pool has no such recording.
        DataError: No run in the folder.
    """
    kind, _, rest = name.partition(":")
    if kind == "replay":
        folder = RunFolder.open(Path(rest))
        return Recording(folder.trajectories_path, folder.trajectories())
    if pool is None:
        raise UsageError(f"{name!r} needs the pool that holds the recording")
    return Recording(pool.recordings().get(rest), pool.recorded(rest))


class Recording:
    """Finds the trajectory of a task and trial; the first trial's where there is no such trial.

    Args:
        path: Where they are kept.
        trajectories: What is kept there; failed ones are left out.
    """

    def __init__(self, path: Path | None, trajectories: Iterator[Trajectory]) -> None:
        self._table = {(t.task_id, t.trial): t for t in trajectories if not t.failed}
        self.digest = hashlib.sha256(content_of(path)).hexdigest() if path else ""
        """Of the file's content: what a run says that it played, wherever the file lies."""

    def __call__(self, task_id: str, trial: int) -> Trajectory | None:
        """Return the trajectory to play, or None."""
        return self._table.get((task_id, trial)) or self._table.get((task_id, 0))


_PLAYERS = ("lexical", "oracle", "gold_calls", "random", "recorded", "replay")


def is_player(spec: Any, players: Collection[str] = _PLAYERS) -> bool:
    """Tell whether a model plays tasks alone: one of ours by rule, or what an own agent asks."""
    if isinstance(spec, str):
        return split_name(spec)[0] in players
    return bool(getattr(spec, "plays_tasks", False))


class RunModel:
    """A model, built once a process.

    Args:
        flagged: What was asked for, and the flags that hold for it.
        recordings: Finds what `recorded:NAME` and `replay:RUN` play.

    Raises:
        UsageError: No such model, an option that it cannot have, or it lacks what it needs.
    """

    def __init__(self, flagged: Flagged, recordings: Callable[[str], Lookup]) -> None:
        self.spec: Any = flagged.spec
        self._settings = flagged.settings(recordings)
        self.model: Any = build_model(self.spec, self._settings)

    @property
    def identity(self) -> dict[str, JSON]:
        """What a run's record says about it."""
        return model_identity(self.spec, self._settings, self.model)

    @property
    def is_cached(self) -> bool:
        """True where its answers are kept."""
        return is_cached(self.model)

    @cached_property
    def account(self) -> str:
        """The name under which what it takes is booked, as prices name it."""
        name, url = self._named()
        return account_of(name, url)

    @property
    def shown(self) -> str:
        """The model and where it is asked, for people."""
        name, url = self._named()
        of_vertex = not url and self._settings.options.get("vertexai")
        return f"{name} at Vertex AI" if of_vertex else shown_at(name, url)

    @property
    def is_served(self) -> bool:
        """True where a server that we know of is asked."""
        name, _ = self._named()
        return not is_offline(self.spec) and self.shown != name

    def check_able(self, role: str) -> None:
        """Raise UsageError where it plays tasks, so that it cannot be asked beside the chats.

        A judge's model may be opened for each chat.
        """
        if is_player(self.spec) or (role != "judge" and hasattr(self.model, "open")):
            raise UsageError(
                f"{self.spec} plays tasks and cannot be the {role}; "
                f"name a model that answers texts with --role-model {role}=MODEL"
            )

    def stack(
        self,
        model: ChatModel,
        role: str,
        store: Store,
        mode: CacheMode,
        meter: Meter,
        context: Mapping[str, JSON],
    ) -> ChatModel:
        """Return it as a role asks it, its answers kept and counted, from the innermost layer.

        Args:
            model: This model, or what was opened of it for one chat.
            role: Who asks. Judges are refused once the budget is spent.
            store: Where answers are kept.
            mode: How they are used.
            meter: Counts the requests.
            context: As of `CachedModel`.
        """
        if role == "judge":
            model = Admitted(model, meter)
        if self.is_cached:
            from seal.models.cached_model import CachedModel

            model = CachedModel(model, store, self.identity, mode, context)
        return Metered(model, meter, role, self.account)

    def _named(self) -> tuple[str, str | None]:
        identity = self.identity
        own = isinstance(getattr(self.model, "identity", None), dict)
        served = own or (isinstance(self.spec, str) and not is_offline(self.spec))
        url = identity.get("base_url") if served else None
        return str(identity.get("model")), url if isinstance(url, str) else None


Answer = Callable[[Request, Task], Completion | None]
"""What a role says; None: the model itself answers."""


@dataclass(frozen=True, slots=True)
class RolePlayer:
    """The model of one chat in which a benchmark answers for its own roles.

    Args:
        model: Plays all other roles.
        answer: The benchmark's.
        task: What is played.
    """

    model: ChatModel
    answer: Answer
    task: Task

    def complete(self, request: Request) -> Completion:
        """Return the benchmark's answer, else the model's."""
        return self.answer(request, self.task) or self.model.complete(request)


def with_roles(model: ChatModel, spec: Any, benchmark: Benchmark | None, task: Task) -> ChatModel:
    """Return the model of one chat, with the benchmark's answers where it offers some.

    Args:
        model: Opened for the task.
        spec: What it was asked by; only names of offline models have players.
        benchmark: What is played; None: not known.
        task: What is played.
    """
    if benchmark is None or not isinstance(spec, str):
        return model
    player = benchmark.players.get(split_name(spec)[0])
    if player is None:
        return model
    return RolePlayer(model, load_dotted(player) if isinstance(player, str) else player, task)


class Cast:
    """Models by role. Built once a process; safe in threads.

    Args:
        settings: Which model each role has.
        store: Where answers are kept.
        pool: Where recorded runs lie; None: none can be played.
    """

    def __init__(self, settings: RunSettings, store: Store, pool: StoredPool | None) -> None:
        self._settings = settings
        self._store = store
        self._pool = pool
        self._benchmark = None if pool is None else pool.benchmark
        self.meter = Meter()
        """Counts what every model is asked."""
        self._how = Presentation(settings.play.format)
        self._models: list[tuple[Flagged, RunModel]] = []
        main = settings.main
        _check_options(main, settings.role_models)
        self._main = self._built(main)
        """Plays every role that has no model of its own."""
        own = dict(settings.role_models)
        judges = judges_named(own.pop("judge", None))
        self.judge_models = tuple(self._built(Flagged.of(spec)) for spec in judges)
        """The models that judge; empty where none is named."""
        self._own = {role: self._built(Flagged.of(spec)) for role, spec in own.items()}
        if self.judge_models:
            self._own["judge"] = self.judge_models[0]
        self.judge_prompts = {
            name: filled(text, {})
            for name, text in settings.prompt_texts.items()
            if name.startswith(OF_JUDGES)
        }
        """Name of a judge's prompt to the text that the run has instead of ours."""

    def _built(self, flagged: Flagged) -> RunModel:
        """Return a model, one for all roles that ask for the same in the same words."""
        for known, model in self._models:
            if known == flagged:
                return model
        built = RunModel(flagged, lambda name: find_recording(name, self._pool))
        self._models.append((flagged, built))
        return built

    def of(self, role: str) -> RunModel:
        """Return the model that plays a role."""
        return self._own.get(role, self._main)

    @property
    def accounts(self) -> list[str]:
        """The names of all models, as prices name them."""
        return [model.account for _, model in self._by_role()]

    @property
    def outage(self) -> str:
        """Why a model's server, or that of kept answers, counts as down; empty while none does."""
        of_models = (getattr(model.model, "outage", "") for _, model in self._models)
        told = chain([self._store.outage], of_models)
        return next((outage for outage in told if isinstance(outage, str) and outage), "")

    @property
    def waits(self) -> str:
        """How many requests wait as a server had too many; empty where none does."""
        counts = [one.model.counts for _, one in self._models if hasattr(one.model, "counts")]
        held = sum(count.held for count in counts)
        told = held + sum(count.taken for count in counts)
        return f"{held} of {told} wait: answered 429" if held else ""

    @property
    def refused(self) -> dict[str, str]:
        """Model to what was changed in its requests, as its server had refused them."""
        told = {model.account: getattr(model.model, "learnt", "") for _, model in self._models}
        return {name: what for name, what in told.items() if what and isinstance(what, str)}

    @property
    def named(self) -> dict[str, list[str]]:
        """Model to what answers called it, where one called it otherwise than it was asked."""
        told = {model.account: getattr(model.model, "named", ()) for _, model in self._models}
        return {name: list(names) for name, names in told.items() if isinstance(names, tuple)}

    def share(self, known: Callable[[Standing], Standing]) -> list[Standing]:
        """Replace what is known of each server, such as by what processes share.

        Args:
            known: Returns what replaces it; called for the servers in the same order each time.

        Returns:
            What is known of each server now.
        """
        models = (model.model for _, model in self._models)
        return [model.share(known) for model in models if hasattr(model, "share")]

    def _by_role(self) -> list[tuple[str, RunModel]]:
        """Return every model, the main one first, with the role that it is named for."""
        further = [("judge", model) for model in self.judge_models[1:]]
        return [("model", self._main), *self._own.items(), *further]

    def asked(self) -> list[str]:
        """Return a line for each model: who is asked, and where; none where nobody is.

        Before them stands one on flags that the model's own text overrules, where there are any.
        """
        models = self._by_role()
        lines = self._overruled()
        if not any(model.is_served for _, model in models):
            return lines
        roles: dict[str, list[str]] = {}
        for role, model in models:
            roles.setdefault(model.shown, []).append(role)
        return lines + [f"{', '.join(dict.fromkeys(who))}: {what}" for what, who in roles.items()]

    def _overruled(self) -> list[str]:
        asked = self._settings
        flags = {"base_url": asked.base_url} if asked.base_url else {}
        flags |= asked.main.options
        own = Model(asked.model).options if isinstance(asked.model, str) else {}
        names = [name for name, value in flags.items() if own.get(name, value) != value]
        told = f"the text of --model goes before the flags: its own {', '.join(names)} holds"
        return [told] if names else []

    def open(
        self, task: Task, trial: int, example: Example | None = None
    ) -> Callable[[str], ChatModel]:
        """Return the models of one chat, by role.

        Args:
            task: What is played.
            trial: Which time.
            example: What the execution manager is shown.

        Raises:
            NotRecordedError: The main model has nothing to play for this task.
        """
        opened: dict[str, ChatModel] = {}
        how = replace(self._how, example=example)

        def model(role: str) -> ChatModel:
            if role not in opened:
                opened[role] = self.opened(role, task, trial, how=how)
            return opened[role]

        model("execution_manager")
        return model

    def ask(self, role: str, task: Task, messages: Sequence[Message]) -> Completion:
        """Return what a role's model answers beside a chat, as it would in the task's first trial.

        Raises:
            ModelError: The model failed.
        """
        seed, heat = self.seed_of(task, 0)(role), self._settings.temperature
        request = Request(tuple(messages), role=role, temperature=heat, seed=seed)
        return self.opened(role, task, 0).complete(request)

    @property
    def presentation(self) -> dict[str, JSON]:
        """What a run's record says about how models were asked; a named user's is left alone."""
        return presentation_identity(self._how, self._settings.one_shot)

    def standing(self, role: str) -> ChatModel:
        """Return a model that serves no chat, such as the simulator's.

        Raises:
            UsageError: The role's model plays tasks only.
        """
        found = self.of(role)
        found.check_able(role)
        return Metered(found.model, self.meter, role, found.account)

    def judge_seed(self, task: Task, trial: int, vote: int) -> int:
        """Return the seed of one vote on one chat."""
        parts = (self._settings.seed, task.id, trial, "judge")
        return derive_seed(*parts, vote) if vote else derive_seed(*parts)

    def check(
        self, role: str, model: ChatModel, goal: Goal, answer: str, steps: list[Step]
    ) -> Verdict:
        """Return a role's verdict within a chat: by a server's model, else by rule."""
        judge: Judge = RuleJudge()
        if self.of(role).is_cached:
            from seal.evaluation.llm_judge import LLMJudge

            judge = LLMJudge(model, prompts=self.judge_prompts)
        try:
            return judge.judge(goal, answer, steps)
        except NoVerdictError as error:  # who speaks in a chat must say something
            return Verdict("unsure", str(error))

    def seed_of(self, task: Task, trial: int) -> Callable[[str], int]:
        """Return role to seed for one chat."""
        return lambda role: derive_seed(self._settings.seed, task.id, trial, role)

    def opened(
        self,
        role: str,
        task: Task,
        trial: int,
        given: RunModel | None = None,
        vote: int = 0,
        kept_as: str = "",
        how: Presentation | None = None,
    ) -> ChatModel:
        """Return a role's model for one chat: the whole stack, from the innermost layer.

        Args:
            role: Who asks.
            task: What is played.
            trial: Which time.
            given: Model of a judge; None: the role's own.
            vote: Of the judge.
            kept_as: Role whose kept answers serve this one too; empty: none.
            how: How it is asked within the chat; None: it is asked beside the chat, as it is.
        """
        asked = self.of(role) if given is None else given
        model = open_model(asked.model, task, trial)
        model = with_roles(model, asked.spec, self._benchmark, task)
        s = self._settings
        context = {"seed": s.seed, "task": task.id, "trial": trial, "role": kept_as or role}
        context |= {"vote": vote}
        model = asked.stack(model, role, self._store, s.cache, self.meter, context)
        if how is None:
            return model
        if role != USER or role not in self._own:
            model = presented(model, asked.spec, how)
        return model


# -- Options and addresses of models that nobody takes, and the models that judge.

OF_JUDGES = "judge_"
"""How the names of judges' prompts begin."""


def _check_options(main: Flagged, roles: Mapping[str, Any]) -> None:
    """Raise UsageError where `-M` says of an offline model what it does not know.

    Options hold for `--model` alone; those that another role's model knows stand in its own text.
    """
    if not is_offline(main.spec):
        return
    name = split_name(main.spec)[0]
    known = options_of(name) or {}
    unknown = next((option for option in main.options if option not in known), None)
    if unknown is None:
        return
    for role, spec in _own_texts(roles):
        raise UsageError(
            f"-M {unknown}: it holds for --model, and {name} has no such option; write it into the "
            f"model that is to have it: --role-model {role}={spec},{unknown}=VALUE"
        )
    raise UnknownNameError(f"option -M of {name}", unknown, known)


def check_flags_used(settings: RunSettings) -> None:
    """Raise UsageError where `--base-url`, or a limit of a minute, is nobody's.

    Requests of a role's model would go to its provider, and whoever gave the address may mean them
    to stay. Where no role's model lacks one, an address that holds for many runs is left alone, as
    are limits.
    """
    for limit in LIMITS if is_offline(settings.model) else ():
        if settings.origins.get(limit) in ("flag", "call"):
            raise UsageError(
                f"--{limit.replace('_', '-')} holds for --model, and {settings.model} asks no "
                "server; write it into the model of a role that asks one: --role-model "
                f"ROLE=openai/NAME,{limit}=N"
            )
    if not (settings.base_url and is_offline(settings.model) and asks_no_server(settings)):
        return
    for role, spec in _own_texts(settings.role_models):
        if "base_url" not in Model(spec).options:
            raise UsageError(
                f"--base-url holds for --model, and {settings.model} asks no server; write the "
                f"address into the role's model: --role-model {role}={spec},"
                f"base_url={public_url(settings.base_url)}"
            )
    if settings.origins.get("base_url") in ("flag", "call"):
        raise UsageError(
            f"--base-url holds for --model, and {settings.model} asks no server; leave it out, or "
            "name a model that asks one: --model openai/NAME"
        )


def _own_texts(roles: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield role and text of each model that is named for a role and is not offline."""
    for role, given in roles.items():
        for spec in given if isinstance(given, (list, tuple)) else (given,):
            if isinstance(spec, str) and not is_offline(spec):
                yield role, spec


OFFLINE_RETRIEVERS = ("tfidf", "bm25", "given", "oracle", "random", "trec")
"""They ask no server."""


def asks_no_server(settings: RunSettings) -> bool:
    """Tell whether neither the retriever of a run nor one that it asks asks a server."""
    return settings.gives_tools or all(
        layer.what in OFFLINE_RETRIEVERS for layer in layers(settings.retriever)
    )


def judges_named(given: Any) -> tuple[Any, ...]:
    """Return the judges' models of a run: one, several in a list or tuple, or none.

    Raises:
        UsageError: One is named twice.
    """
    if given is None:
        return ()
    several = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    named = tuple(Model(spec) if isinstance(spec, str) else spec for spec in several)
    twice = next((spec for n, spec in enumerate(named) if spec in named[:n]), None)
    if twice is not None:
        raise UsageError(f"judge {twice!r} is named twice; let it vote twice by --votes 2")
    return named


def judges_under(
    given: Any, base_url: str | None, options: Mapping[str, Any]
) -> tuple[Flagged, ...]:
    """Return judges' models for which `--base-url` and `-M` hold, as for those of `seal score`.

    Raises:
        UsageError: One is named twice.
    """
    return tuple(Flagged(spec, base_url, options) for spec in judges_named(given))


# -- The prompts that a run has instead of ours: who asks by them, and what they may hold.


_SIMULATOR = "simulator"


def hears_system(team: Team) -> set[str]:
    """Return the roles that are told what the system says: who leads, and who makes the calls."""
    found = set()
    for one in (team, *team.variants.values()):
        found |= {one.one_voice} if one.one_voice else {one.lead, MANAGER}
    return found


def prompts_of(team: Team) -> dict[str, Prompt]:
    """Return role to prompt, of the roles of a team that have one."""
    seats = [seat for one in (*team.variants.values(), team) for seat in one.roles.items()]
    found = {role: getattr(AGENTS.resolve(agent), "prompt", None) for role, agent in seats}
    return {role: prompt for role, prompt in found.items() if isinstance(prompt, Prompt)}


def own_prompts(
    settings: RunSettings, team: Team, of_judges: Collection[str], pool: StoredPool
) -> dict[str, str]:
    """Return name to prompt, of those that a run has instead of ours.

    An experiment and a baseline leave out what they have no use for.

    Args:
        settings: Of the run.
        team: Who is seated.
        of_judges: Names of the prompts by which judges are asked.
        pool: What is played.

    Raises:
        UsageError: A prompt is nobody's, or uses a variable that ours has not; names the repair.
    """
    texts = {role: prompt.text for role, prompt in prompts_of(team).items()}
    if USER not in settings.role_models and not any(
        task.persona for task in pool.outlines(settings.select)
    ):
        texts.pop(USER, None)  # it only speaks the goals
    if of_judges:
        from seal.evaluation.llm_judge import prompt as of_judge

        texts |= {name: of_judge(name) for name in of_judges}
    if isinstance(settings.simulator, str) and "llm" in settings.simulator.split("+"):
        from seal.simulator_cache.llm import shipped_simulator_prompt

        texts[_SIMULATOR] = shipped_simulator_prompt()
    found = {}
    for name, text in settings.prompt_texts.items():
        if name in texts:
            _check_prompt(name, text, texts[name], hears_system(team) & texts.keys())
            found[name] = text
        elif "experiment" not in settings.origins.values():
            raise UsageError(f"--prompt {name}: {_unasked(name, team, texts)}")
    return found


def check_judge_prompts(settings: RunSettings, of_judges: Collection[str]) -> None:
    """Make sure that a judge asks by each prompt that stands in the place of ours.

    Args:
        settings: With the prompts.
        of_judges: Names of the prompts by which judges are asked.

    Raises:
        UsageError: As `own_prompts` raises.
    """
    for name, text in settings.prompt_texts.items():
        if name not in of_judges:
            known = ", ".join(of_judges) or "none; name a model that judges: --judge-model MODEL"
            raise UsageError(f"--prompt {name}: prompts by which the judge is asked: {known}")
        _check_prompt(name, text, "", ())


def _check_prompt(name: str, text: str, ours: str, hearing: Collection[str]) -> None:
    """Raise UsageError where a prompt uses what there is not."""
    if text == THEIRS and name not in hearing:
        who = " and ".join(sorted(hearing)) or "roles"
        raise UsageError(
            f"--prompt {name}={THEIRS}: a task's system text goes to {who} alone; give a file for "
            f"{name}"
        )
    known = variables_in(ours)
    for variable in variables_in(text):
        if variable not in known:
            raise UsageError(
                f"--prompt {name}: no variable {{{variable}}}; it may use: "
                f"{', '.join(f'{{{one}}}' for one in known) or 'none'}. For the words themselves "
                f"write {{{{{variable}}}}}"
            )


def _unasked(name: str, team: Team, texts: Collection[str]) -> str:
    """Return why a run has no use for a prompt."""
    if name.startswith(OF_JUDGES):
        why = "no model judges by it; name one: --role-model judge=MODEL"
    elif name == _SIMULATOR:
        why = "no model simulates; let one: --simulator llm"
    elif name == USER:
        why = (
            "no model plays the user, or no task has a persona by which it would; let one: "
            f"--role-model {USER}=MODEL"
        )
    elif name in team.roles:
        why = "who plays it has no prompt"
    elif name in team.every_role():
        why = f"nobody plays it; seat one: --role {name}=AGENT"
    else:
        close = nearest(name, {*texts, *team.every_role()})
        why = f"team {team.name} has no such role" + (f"; did you mean {close!r}" if close else "")
    return f"{why}. Prompts of this run: {', '.join(sorted(texts))}"
