"""User, planner and agent without a model: a grammar over the sample's tools, in English."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from threading import Lock
from typing import Any, ClassVar

from seal.benchmarks.mmtb.generation.evidence import NEAR, texts_of, with_spoken_days
from seal.benchmarks.mmtb.generation.grammar.choices import FromCall, Script
from seal.benchmarks.mmtb.generation.grammar.drafts import scripts
from seal.benchmarks.mmtb.generation.grammar.language import (
    Act,
    Slot,
    capital,
    filled,
    joined,
    language,
    told_value,
)
from seal.benchmarks.mmtb.generation.grammar.requests import faults
from seal.benchmarks.mmtb.generation.grammar.things import Thing, entries_of, thing_of, values_of
from seal.benchmarks.mmtb.generation.scenes import (
    Action,
    Assignment,
    Decision,
    Scene,
    final_answer,
    question,
    write_decision,
)
from seal.benchmarks.mmtb.generation.settings import DATE
from seal.core import JSON, Chat, DataError, Tool, UsageError

_OFFERED = 11
"""Tools of the theme that a dialogue offers."""
_BESIDE = 3
"""Tools of other themes besides."""
_VAGUE = 0.25
_KEPT = 64
"""Missions whose scripts are kept, for the roles that speak after the user."""


class GrammarSpeakers:
    """Those who think, by rule (`scenes.Speakers`). Equal scenes give equal words."""

    identity: ClassVar[dict[str, JSON]] = {"speakers": "grammar/1"}
    """What shapes the words."""

    def __init__(self) -> None:
        self._made: dict[Any, list[Script]] = {}
        self._keeping = Lock()

    def choose_tools(
        self, assignments: Sequence[Assignment], tools: Sequence[Tool]
    ) -> Sequence[Tool]:
        """Return the tools that a dialogue offers: most of one theme, and a few others.

        Raises:
            UsageError: The language is not English, or the tools are not the sample's.
        """
        first = assignments[0]
        if first.language != "en":
            raise UsageError(
                f"the grammar speaks en, not {first.language}: let a model speak (--model)"
            )
        by_name = {tool.name: tool for tool in tools if tool.name in language().acts}
        rng = random.Random(f"{first.seed}/tools")
        themes = [t for t in language().themes if sum(n in by_name for n in t.tools) >= _OFFERED]
        if not themes:
            raise UsageError(
                "the grammar knows the tools of the pool `sample` alone: give --tools sample, or a "
                "model that makes missions of any tools"
            )
        theme = rng.choice(themes)
        mine = [name for name in theme.tools if name in by_name]
        others = [name for name in by_name if name not in theme.tools]
        chosen = {*_connected(rng, mine), *rng.sample(others, min(_BESIDE, len(others)))}
        return [tool for tool in tools if tool.name in chosen]

    def candidates(self, scene: Scene, chat: Chat) -> Sequence[str]:
        """Return wordings of the mission: five of a dialogue's first, else three.

        Raises:
            DataError: The offered tools allow no such mission.
        """
        return [script.request for script in self._scripts(scene)]

    def decide(self, scene: Scene, chat: Chat) -> str:
        """Return the planner's decision.

        Raises:
            DataError: The grammar cannot read the request.
        """
        script = self._script(scene)
        open_slots = _unanswered(scene, script)
        done = len({call.moment for call in scene.calls})
        if not script.calls:
            actions = [final_answer("chat")]
            return _said("Talk.", "No tool is needed here.", "Reply at once.", actions)
        if open_slots:
            names = dict.fromkeys(name for slot, _ in open_slots for name in slot.parameters)
            tool = script.calls[0].act.tool
            thought = f"{tool} lacks values that nobody gave."
            return _said("", thought, "Ask the user first.", [question(tool, list(names))])
        if done == len(script.rounds):
            return _said("", "Everything is there.", "Tell the user.", [final_answer("tool")])
        actions = [_action(scene, script, place) for place in script.rounds[done]]
        plan = f"Call {joined([action.name for action in actions])}."
        return _said("", "The request names what is needed.", plan, actions)

    def ask(self, scene: Scene, action: Action, chat: Chat) -> str:
        """Return the agent's question for what is missing."""
        script = self._script(scene)
        wanted = [slot.which for slot, _ in _unanswered(scene, script)]
        rng = random.Random(f"{scene.assignment.seed}/ask")
        return rng.choice(
            language().phrases["asking_again"] if scene.questions else language().phrases["asking"]
        ).format(joined(wanted))

    def answer(self, scene: Scene, question: str, chat: Chat) -> str:
        """Return the user's answer: all of it, or at first, one time in four, nothing of use."""
        script = self._script(scene)
        missing = _unanswered(scene, script)
        rng = random.Random(f"{scene.assignment.seed}/answer")
        before = any(asked.answer for asked in scene.questions)
        vague = [words for slot, _ in missing for words in slot.sort.vague]
        if rng.random() < _VAGUE and not before and vague:
            return rng.choice(vague)
        said = []
        for slot, thing in missing:
            on_a_day = slot.sort.name == "day" and thing.words not in NEAR
            said.append(f"on {thing.words}" if on_a_day else thing.words)
        words = joined(said)
        return capital(rng.choice(language().phrases["answers"]).format(words))

    def reply(self, scene: Scene, chat: Chat) -> str:
        """Return the agent's last text: each result told, with the ids of what was found."""
        script = self._script(scene)
        if not script.calls:
            return script.reply
        today = _today(scene)
        return "\n\n".join(
            _told(today, language().acts[done.action.name], done.action.arguments, done.observation)
            for done in scene.calls
        )

    def _script(self, scene: Scene) -> Script:
        """Return the script whose words the request has, or at least asks for the same with others.

        Raises:
            DataError: There is none.
        """
        made = self._scripts(scene)
        for script in made:
            if script.request == scene.request:
                return script
        wrong = [faults(script, scene.request, _today(scene)) for script in made]
        least = min(wrong, key=len)
        if least:
            raise DataError(
                "the grammar takes its own wordings, and such as say the same values and key words;"
                f" {scene.request!r} does not: {'; '.join(least)}. Mend it, or let a model make "
                "the missions (--model), which takes any words"
            )
        return made[wrong.index(least)]

    def _scripts(self, scene: Scene) -> list[Script]:
        """Return the scripts of a mission; those of the last missions are kept."""
        said = tuple(text for mission in scene.past for text in texts_of(mission))
        key = (scene.assignment, tuple(scene.tools), said)
        found = self._made.get(key)
        if found is None:
            found = list(scripts(scene, _today(scene)))
            with self._keeping:
                self._made[key] = found
                if len(self._made) > _KEPT:
                    del self._made[next(iter(self._made))]
        return found


def _connected(rng: random.Random, names: Sequence[str]) -> Sequence[str]:
    """Return a part of a theme's tools of which some feed others."""
    for _ in range(40):
        chosen = rng.sample(list(names), min(_OFFERED, len(names)))
        acts = [language().acts[name] for name in chosen]
        gifts = [(act, act.gives.sort.name) for act in acts if act.gives is not None]
        fed = [
            other
            for act, gift in gifts
            for other in acts
            if act is not other and any(slot.sort.name == gift for slot in other.slots)
        ]
        if len(fed) >= 2:
            return chosen
    return list(names)


def _today(scene: Scene) -> date:
    """Return the date of a scene.

    Raises:
        DataError: It is not written as `settings.DATE`.
    """
    try:
        return datetime.strptime(scene.assignment.date, DATE).date()
    except ValueError as error:
        raise DataError(
            f"date {scene.assignment.date!r}: expected one such as 2024-05-15 09:24, Wednesday"
        ) from error


def _unanswered(scene: Scene, script: Script) -> list[tuple[Slot, Thing]]:
    """Return what is missing and was not answered."""
    answers = "\n".join(asked.answer for asked in scene.questions).casefold()
    return [(slot, t) for slot, t in script.missing if t.words.casefold() not in answers]


def _said(purpose: str, thought: str, plan: str, actions: Sequence[Action]) -> str:
    finished = all(action.name == final_answer("tool").name for action in actions)
    return write_decision(Decision(finished, thought, plan, tuple(actions)))


def _action(scene: Scene, script: Script, place: int) -> Action:
    """Return a call with its arguments."""
    call = script.calls[place]
    answered = {slot.key: thing for slot, thing in script.missing}
    fills = {**call.fills, **answered}
    arguments: dict[str, JSON] = {}
    for slot in call.act.slots:
        fill = fills.get(slot.key)
        if isinstance(fill, FromCall):
            _put(arguments, slot, [_brought(scene, script, n, fill.pick) for n in fill.calls])
        elif fill is not None:
            _put(arguments, slot, [fill.value])
    words = {
        slot.name: fill.words
        for slot in call.act.slots
        if isinstance(fill := call.fills.get(slot.key), Thing)
    }
    return Action(call.act.tool, arguments, capital(filled(call.act.do[0], words)))


def _put(arguments: dict[str, JSON], slot: Slot, values: Sequence[JSON]) -> None:
    """Put the values of a slot among the arguments of a call."""
    parameters, value = slot.parameters, values[0]
    if len(parameters) > 1:
        arguments.update(zip(parameters, value, strict=True))
    elif "." in slot.key:
        before = arguments.get(parameters[0])
        arguments[parameters[0]] = value if before is None else f"{before}T{value}"
    elif slot.form == "travellers":
        first, _, last = str(value).partition(" ")
        arguments[parameters[0]] = [{"first_name": first, "last_name": last}]
    elif slot.form == "one_item":
        arguments[parameters[0]] = [{"product_id": one, "quantity": 1} for one in values]
    else:
        arguments[parameters[0]] = list(values) if slot.form == "list" else value


def _brought(scene: Scene, script: Script, place: int, pick: str) -> JSON:
    """Return the value that an earlier call of the mission brought.

    Raises:
        DataError: Its result has none.
    """
    order = [n for group in script.rounds for n in group]
    results = [done.observation for done in scene.calls]
    act = script.calls[place].act
    gift = act.gives
    given = entries_of(act, results[order.index(place)])
    entries = [entry for entry in given if gift is not None and gift.id in entry]
    if gift is None or not entries:
        raise DataError(f"{act.tool}: its result holds nothing that a later call could take")
    how, by = gift.best.get(pick, ("first", ""))
    if how in ("min", "max"):
        least = min if how == "min" else max
        entry = least(entries, key=lambda one: _number(one.get(by)))
    else:
        entry = entries[-1 if how == "last" else 0]
    return entry[gift.id]


def _number(value: JSON) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _told(today: date, act: Act, arguments: Mapping[str, JSON], observation: JSON) -> str:
    """Return a result in words."""
    words: dict[str, str] = {}
    for slot in act.slots:
        if all(name in arguments for name in slot.parameters):
            values = values_of(slot, arguments)
            words[slot.name] = joined([thing_of(slot.sort, v, today).told() for v in values])
    unsaid = dict.fromkeys((slot.name for slot in act.slots), "")
    lines = [filled(act.told, {**_fields(observation), **unsaid, **words})]
    entries = observation.get(act.listed) if act.listed and isinstance(observation, dict) else None
    for number, entry in enumerate(entries if isinstance(entries, list) else (), 1):
        lines.append(f"{number}. {filled(act.item, _fields(entry))}")
    return with_spoken_days("\n".join(lines))


def _fields(value: Any, prefix: str = "") -> dict[str, str]:
    """Return the fields of a result as texts, those of fields under names with dots."""
    if not isinstance(value, dict):
        return {".": told_value(value)}
    found: dict[str, str] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            found |= _fields(inner, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = told_value(inner)
    return found
