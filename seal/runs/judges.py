"""The judges of a run: by which published rules, who votes, and what its record says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from seal.agents.teams import CHECKER
from seal.core import JSON, Judge, Metric, Task, UsageError
from seal.evaluation.pass_rates import PASS_PAPER, PUBLISHED, VOTES
from seal.evaluation.rule_judge import RuleJudge
from seal.runs.role_models import Cast, RunModel

if TYPE_CHECKING:
    from seal.evaluation.llm_judge import LLMJudge
    from seal.evaluation.panel import Panel

SOURCES = ("auto", "rule", "llm")
"""Who says what is solved: rules, a model, or a model where one is named."""


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """What `--judge` asks for."""

    source: Literal["rule", "llm"]
    published: tuple[str, ...]
    """Of `PUBLISHED`, in that order."""
    votes: Mapping[str, int]
    """Of each published judge on each goal."""

    @classmethod
    def of(cls, text: str, has_model: bool = False, votes: int | None = None) -> JudgeChoice:
        """Return what a text asks for: a source, published judges, or both, by commas.

        Args:
            text: As `--judge`.
            has_model: Whether a judge's model is named, which `auto` then means.
            votes: As `--votes`; None: as published.

        Raises:
            UsageError: A word is neither, or two sources are named.
        """
        words = [word.strip() for word in text.split(",") if word.strip()]
        sources = [word for word in words if word in SOURCES]
        if not words or len(sources) > 1 or any(w not in (*SOURCES, *PUBLISHED) for w in words):
            raise UsageError(
                f"--judge {text}: it must be rule, llm or auto, published judges "
                f"({', '.join(PUBLISHED)}), or both, such as sopr,fac,llm"
            )
        by_model = "llm" in sources or (has_model and "rule" not in sources)
        published = tuple(name for name in PUBLISHED if name in words) or (PASS_PAPER,)
        every = {name: votes or VOTES[name] for name in published}
        return cls("llm" if by_model else "rule", published, every)

    @property
    def text(self) -> str:
        """What asks for the same, without `auto`."""
        others = () if self.published == (PASS_PAPER,) else self.published
        return ",".join((*others, self.source))


def check_votes(votes: int | None) -> None:
    """Raise UsageError where a number of votes is none."""
    if votes is not None and votes < 1:
        raise UsageError(f"--votes {votes}: it must be at least 1")


@dataclass(frozen=True, slots=True)
class RecordedVerdicts:
    """Verdicts that stand in the place of a judge's."""

    panels: Mapping[str, Panel]
    """By task; of its first trial."""
    digest: str
    """Of the file that they are from."""


class Judges:
    """Gives each chat its judges. Safe in threads.

    Args:
        cast: The judges' models.
        judge: As `--judge`.
        votes: Of each judge on each goal; None: as published.
        recorded: Verdicts to take instead of asking anybody.
        checked: Whether a checker of ours speaks in the chats. Where the first judge is the same
            model, what the checker was answered serves the judge too: nobody is asked twice.

    Raises:
        UsageError: A judge that cannot be.
    """

    def __init__(
        self,
        cast: Cast,
        judge: str = "auto",
        votes: int | None = None,
        recorded: RecordedVerdicts | None = None,
        checked: bool = False,
    ) -> None:
        check_votes(votes)
        self.meter = cast.meter
        """Counts what they are asked."""
        self._cast = cast
        self._choice = JudgeChoice.of(judge, bool(cast.judge_models), votes)
        self._as_published = votes is None
        self._recorded = recorded
        self._checked = checked
        if recorded is not None and (votes is not None or self.by_model):
            raise UsageError("--verdicts holds the votes: leave --votes and the judge's model out")
        if recorded is None and votes is not None and votes > 1 and not self.by_model:
            raise UsageError(
                f"--votes {votes}: rules always vote alike; name a judge's model "
                "(--role-model judge=MODEL of a run, --judge-model MODEL of seal score)"
            )

    @property
    def by_model(self) -> bool:
        """True where a model judges."""
        return self._choice.source == "llm"

    @property
    def own_prompts(self) -> Mapping[str, str]:
        """Name of a prompt to the text that stands in its place."""
        return self._cast.judge_prompts

    @property
    def checks_by_model(self) -> bool:
        """True where a checker speaks in the chats whose model is asked for its verdict."""
        return self._checked and self._cast.of(CHECKER).is_cached

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the prompts by which models are asked, the checker's in the chats too."""
        if not self.by_model and not self.checks_by_model:
            return ()
        from seal.evaluation.llm_judge import STAGES, prompts_of

        published = prompts_of(self._choice.published) if self.by_model else ()
        checker = STAGES.values() if self.checks_by_model else ()
        return tuple(dict.fromkeys((*published, *checker)))

    def of(self, task: Task, trial: int) -> Judge:
        """Return the judge of one chat's pass rate, which may see the goal's gold.

        It is by rule where only other published judges are asked for.
        """
        if PASS_PAPER not in self._choice.published:
            return RuleJudge()
        if self._recorded is None and not self.by_model:
            return RuleJudge()
        panel = self._panel(PASS_PAPER, task, trial)
        is_alone = self._recorded is None and len(panel.seats) == 1
        return panel.seats[0].judge if is_alone else panel

    def metrics_of(self, task: Task, trial: int) -> tuple[Metric, ...]:
        """Return the metrics of the other published judges, for one chat."""
        others = [name for name in self._choice.published if name != PASS_PAPER]
        if not others:
            return ()
        from seal.evaluation.panel import MEASURES

        return tuple(MEASURES[name](self._panel(name, task, trial)) for name in others)

    def _panel(self, published: str, task: Task, trial: int) -> Panel:
        from seal.evaluation.panel import UNRECORDED, Panel, Seat

        if self._recorded is not None:
            return self._recorded.panels.get(task.id, UNRECORDED) if not trial else UNRECORDED
        if not self.by_model:
            return Panel((Seat(RuleJudge(), "rule"),))
        return Panel(
            tuple(
                Seat(self._asked(judge, task, trial, vote), self._name(judge), vote)
                for judge in self._models
                for vote in range(self._choice.votes[published])
            )
        )

    def _asked(self, judge: RunModel, task: Task, trial: int, vote: int) -> LLMJudge:
        from seal.evaluation.llm_judge import LLMJudge

        if self._checked and not vote and judge.identity == self._cast.of(CHECKER).identity:
            shared = self._cast.opened("judge", task, trial, judge, kept_as=CHECKER)
            return LLMJudge(shared, prompts=self._cast.judge_prompts)
        model = self._cast.opened("judge", task, trial, judge, vote)
        seed = self._cast.judge_seed(task, trial, vote)
        return LLMJudge(model, seed, self._cast.judge_prompts)

    def _name(self, judge: RunModel) -> str:
        """Return the model's name; its whole text where another judge has the same name."""
        name = judge.identity.get("model")
        alone = sum(other.identity.get("model") == name for other in self._models) == 1
        return str(name if alone else judge.spec)

    @property
    def _models(self) -> tuple[RunModel, ...]:
        return self._cast.judge_models or (self._cast.of("judge"),)

    @property
    def verdicts(self) -> str:
        """Digest of the file of recorded verdicts; empty where none are taken.

        Every run has a file of its own, so it is no part of what is measured.
        """
        return "" if self._recorded is None else self._recorded.digest

    def identity(self) -> dict[str, JSON]:
        """Return what a run's record says about its judges.

        Raises:
            UsageError: A judge's model cannot judge.
        """
        published = self._choice.published
        plain = published == (PASS_PAPER,) and self._as_published
        told: dict[str, JSON] = {} if plain else {"published": list(published)}
        if self._recorded is not None:
            from seal.evaluation.panel import RecordedJudge

            return {**told, "judge": RecordedJudge("").identity}
        if not self.by_model:
            return {"judge": RuleJudge().identity, **told}
        from seal.evaluation.llm_judge import prompts_digest, prompts_of

        for judge in self._models:
            judge.check_able("judge")
        told |= {} if plain else {"votes": dict(self._choice.votes)}
        if len(self._models) > 1:
            told["panel"] = [judge.identity for judge in self._models]
        return {
            "judge": f"llm/{prompts_digest(prompts_of(published), self._cast.judge_prompts)[:12]}",
            **told,
            **self._models[0].identity,
        }
