"""Everything that a run can be told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from seal.agents.briefs import WHOLE, Brief, check_brief
from seal.core.errors import OptionError, UnknownNameError, UsageError
from seal.core.feedback import Feedback, check_feedback
from seal.core.formats import Format, ToolMessages, check_presentation
from seal.core.secrets import refuse_secret
from seal.models import Model
from seal.sandbox import NAMES as SANDBOXES

History = Literal["own", "gold"]
"""What later goals follow on: what was said in the chat, or the references of earlier goals."""


@dataclass(frozen=True, slots=True)
class Play:
    """How a run plays where neither the user nor the pool says so."""

    team: Any = "full"
    history: History = "own"
    format: Format = "native"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What `seal run` plays. Every part may be an object, a name or a dotted path."""

    pool: str | Path = "sample"
    """A shipped benchmark's name, or a folder that `seal import` wrote."""
    model: Any = "lexical"
    """Model of every role that `role_models` does not name; options of its own go before those
    below."""
    role_models: Mapping[str, Any] = field(default_factory=dict)
    """Role, `simulator` or `judge` to its own model, with its own options (`seal.Model`); `judge`
    also to a tuple of several."""
    model_options: Mapping[str, Any] = field(default_factory=dict)
    """`-M key=value`, of `model` and so of the roles that follow it."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server, of `model` likewise, and of an embedder of the
    retriever; None: the provider's own."""
    roles: Mapping[str, Any] = field(default_factory=dict)
    """Role (planner, verifier, checker, user_simulator...) to the agent that plays it instead of
    the team's; None: nobody does."""
    user_brief: Brief = WHOLE
    """Parts of a task's persona that the user is told."""
    team: Any = None
    """None, as of `history` and `format`: what the pool says, else what `Play` does."""
    history: History | None = None
    retriever: Any = None
    """None: `given` where the task offers tools, else `tfidf`."""
    retriever_options: Mapping[str, Any] = field(default_factory=dict)
    """`-R key=value`."""
    top_k: int = 10
    retrieve: Literal["once", "per-step", "on-demand"] = "once"
    simulator: Any = "template"
    world_options: Mapping[str, Any] = field(default_factory=dict)
    """`-T key=value`, of the worlds that tasks are played in, and of the team."""
    tools: Literal["recorded", "created"] = "recorded"
    """What answers in a virtual mobile: the calls of the corpus, or functions that the model of the
    role `creator` writes."""
    sandbox: str = "monty"
    """Where code that a model wrote runs (`seal.sandbox.NAMES`)."""
    on_policy: bool = False
    """Play recorded dialogues as conversations with a user who speaks from a brief."""
    feedback: Feedback = "auto"
    """What an invalid call brings (`seal.core.feedback`)."""
    gold_results: bool = False
    """Let calls of gold tools bring what the gold calls bring (`seal.pipeline.gold_results`)."""
    format: Format | None = None
    """How models call tools: by the server's tool calling, or in their text."""
    tool_messages: ToolMessages = "auto"
    """How results reach models."""
    style: Literal["plain", "react"] = "plain"
    """`react`: the execution manager may think before it acts."""
    one_shot: bool = False
    """Show the execution manager how another task of the same environment was carried out."""
    cache: Literal["record", "replay", "off"] = "record"
    cache_dir: str | Path | None = None
    """None: SEAL_CACHE_DIR, else the user's cache folder."""
    judge: str = "auto"
    """`rule`, `llm`, or `auto`: llm where a judge's model is named, else rule; and published judges
    (`seal.evaluation.judges.PUBLISHED`), by commas."""
    votes: int | None = None
    """Of each judge's model on each goal; None: as each published judge does."""
    limit: int | None = None
    select: Mapping[str, str] = field(default_factory=dict)
    """Tag to the value that a task must have."""
    trials: int = 1
    workers: int = 4
    """Chats at once, in threads."""
    processes: int = 1
    """Processes, each with `workers` threads."""
    max_turns: int | None = None
    """Model turns of the execution manager for each goal; None: 10, or as many more as the task
    says (`seal.pipeline.limits.turns_of`)."""
    max_calls: int = 50
    """Calls for each goal."""
    max_messages: int | None = None
    """Messages to or from the user or the executor for each goal; None: as the task says."""
    max_tokens: int | None = None
    """Tokens in and out for each chat."""
    max_seconds: float | None = None
    """Wall-clock seconds for each chat."""
    max_total_tokens: int | None = None
    """Tokens that models may be asked in the whole run, judges, simulators and baselines with them;
    kept answers cost none. What is unfinished then can be resumed."""
    max_dollars: float | None = None
    """Likewise in US dollars, at the prices below."""
    prices: str | Path | None = None
    """File of prices that go before the shipped ones (`seal.pipeline.spending.prices`)."""
    temperature: float = 0.0
    seed: int = 0
    cutoffs: tuple[int, ...] = (5, 10)
    """K of recall@K and its like."""
    metrics: tuple[Any, ...] = ()
    """Further metrics: names, dotted paths, classes or objects."""
    baselines: bool = True
    """Play the floor and the ceiling beside the model."""

    def __post_init__(self) -> None:
        """Reject values that no run can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes; or an option that is a key
                of a service, for options are written to run.json.
        """
        refuse_secret("", self.model_options, "model_options")
        for models in (self.model, *self.role_models.values()):
            for model in models if isinstance(models, (list, tuple)) else (models,):
                if isinstance(model, str):
                    Model(model)
        refuse_secret("", self.retriever_options, "retriever_options")
        refuse_secret("", self.world_options, "world_options")
        check_brief(self.user_brief)
        check_feedback(self.feedback)
        check_presentation(self.play.format, self.tool_messages)
        if self.tools not in ("recorded", "created"):
            raise OptionError(f"--tools {self.tools}: expected recorded or created")
        if self.sandbox not in SANDBOXES:
            raise UnknownNameError("sandbox", self.sandbox, SANDBOXES)
        if self.style not in ("plain", "react"):
            raise UsageError(f"--style {self.style}: expected plain or react")
        positive = {
            "top-k": self.top_k,
            "trials": self.trials,
            "workers": self.workers,
            "processes": self.processes,
            "max-turns": self.max_turns,
            "max-calls": self.max_calls,
            "max-messages": self.max_messages,
            "limit": self.limit,
            "max-tokens": self.max_tokens,
            "max-seconds": self.max_seconds,
            "max-total-tokens": self.max_total_tokens,
            "votes": self.votes,
        }
        for flag, value in positive.items():
            if value is not None and not value > 0:  # NaN is not
                raise UsageError(f"--{flag} {value}: it must be at least 1")
        if self.max_dollars is not None and not 0 < self.max_dollars < math.inf:
            raise UsageError(f"--max-dollars {self.max_dollars}: expected a number above 0")
        check_seed(self.seed)
        if not 0 <= self.temperature < math.inf:
            raise UsageError(f"--temperature {self.temperature}: expected a number of at least 0")

    @property
    def play(self) -> Play:
        """Team, history and format, of what is not said the general ones."""
        general = Play()
        return Play(
            general.team if self.team is None else self.team,
            self.history or general.history,
            self.format or general.format,
        )


def check_seed(seed: int) -> None:
    """Raise UsageError where a seed cannot be written to JSON: it has more than 64 bits."""
    if not -(2**63) <= seed < 2**63:
        raise UsageError(f"--seed {seed}: expected a whole number of at most 18 digits")
