"""MMTB's tool lists as tools, and its test records as dialogues of missions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from seal.core import JSON, DataError, Tool, check_name, levels, located, shortened
from seal.core.text import counted
from seal.evaluation.mission_gold import ANSWER, PSEUDO
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    CountedFault,
    expect,
    field_of,
    function_name,
    json_lines,
    json_of_text,
    numbered,
    refuse_deep,
    refuse_others,
    tool_id,
    usable,
)
from seal.pools.reading.records import ToolTable

# -- MMTB's tool documents as tools, and its tool lists.
#
# A line of a tools file is the list of tools of one dialogue. A document that stands in several
# lists becomes one tool, whose source names the lists. Different documents of one name are
# different tools.

BENCHMARK = "mmtb"

_TYPES = {
    "bool": "boolean",
    "complex_string": "string",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "interger": "integer",
    "list": "array",
    "list of dictionaries": "object",
    "str": "string",
    "uuid": "string",
}
"""Upstream's words for types, in lower case, to JSON Schema's."""
_ENUM = re.compile(r"\s*enum\s*\[(.*)\]\s*", re.IGNORECASE | re.DOTALL)


class ToolLists:
    """The tool lists of an import, each document once.

    Args:
        table: Gets the tools.
        notes: Gets the counts.
    """

    def __init__(self, table: ToolTable, notes: Notes) -> None:
        self._table = table
        self._notes = notes
        self._lists: dict[str, list[int]] = {}
        self._counts: Counter[str] = Counter()

    def read(self, path: Path) -> None:
        """Take in a tools file.

        Raises:
            DataError: The file cannot be read, or none of its lists can be used.
        """

        def made(numbered_record: tuple[int, Any]) -> tuple[int, list[Tool]]:
            number, record = numbered_record
            return number, [read_tool(entry, path.name) for entry in entries(record)]

        for number, tools in usable(path, made, self._notes, numbered(json_lines)):
            ids = [self._table.add(tool) for tool in tools]
            repeated = len(ids) - len(set(ids))
            self._counts.update(lists=1, documents=len(ids), repeated_in_a_list=repeated)
            for own in dict.fromkeys(ids):
                self._lists.setdefault(own, []).append(number)

    def tools(self) -> Iterable[Tool]:
        """Yield the tools, each with the numbers of its lists, and count them."""
        for tool in self._table:
            lists = self._lists.get(tool.id)
            yield replace(tool, source={**tool.source, "lists": list(lists)}) if lists else tool
        self._counts["duplicates"] = self._table.duplicates
        self._counts["tool_variants"] = self._table.variants
        self._notes.facts["counts"] = dict(sorted(self._counts.items()))


def entries(record: Any) -> list[Any]:
    """Return the documents of a tool list.

    Raises:
        DataError: It is no list.
    """
    return expect(record, list, what="a list of tools")


def read_tool(entry: Any, file: str) -> Tool:
    """Return a document in the form of OpenAI's functions as a tool.

    Args:
        entry: The document.
        file: Name of the file that holds it.

    Raises:
        DataError: A field is missing or malformed.
    """
    refuse_deep(entry)
    function = field_of(entry, "function", dict)
    name = field_of(function, "name", str)
    parameters = field_of(function, "parameters", dict)
    field_of({"properties": {}, **parameters}, "properties", dict)
    return Tool(
        tool_id(BENCHMARK, name, name),
        function_name(name),
        field_of(function, "description", str),
        {"type": "object", "properties": {}, **_schema(parameters)},
        source={"tool": name, "api": name, "file": file},
    )


def _schema(schema: Any) -> JSON:
    """Return a schema with the types that JSON Schema knows."""
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    if isinstance(schema.get("type"), str):
        found |= _type(schema["type"])
    if isinstance(schema.get("properties"), dict):
        found["properties"] = {name: _schema(value) for name, value in schema["properties"].items()}
    if "items" in schema:
        found["items"] = _schema(schema["items"])
    return found


def _type(word: str) -> dict[str, JSON]:
    """Return what JSON Schema says for a type; of alternatives `a|b` the first."""
    listed = _ENUM.fullmatch(word)
    if listed:
        values = [value.strip(" \t'\"") for value in re.split(r"[,|]", listed[1])]
        return {"type": "string", "enum": [value for value in values if value]}
    first = word.partition("|")[0].strip().lower()
    return {"type": _TYPES.get(first, first)}


# -- MMTB's test records as dialogues of missions: what they hold, checked and under our words.
#
# A record is one dialogue:
#
# - `id`; `english_task` list[N]; `english_answer_list` list[N] of node lists; `english_messages`
#   one flat list, in which texts with `=====` part the missions; `english_tools`, a tool list.
#   Without `english_` the same in Chinese.
# - `env_info`, a date or one a mission (text from the weekday on is no part of it); `type` list[N];
#   `task_ids` list[N], the place of a mission's request among its messages; `turn_type`, whether a
#   mission leans on earlier ones; `turn_subtypes`, how, of each mission or of those alone that do.
#
# A node is `{idx, action {name, arguments}, observation, dependency_list [idx], user_input}`; the
# last one is the pseudo tool `prepare_to_answer`, whose observation is the golden reply.

LANGUAGES = ("en", "zh")
MARK = "====="
"""What a text has that parts two missions."""

MissionType = Literal["single", "multi", "chat", "clarify"]

_MISSION_TYPES: dict[str, MissionType] = {
    "单": "single",
    "多": "multi",
    "拒": "chat",
    "反": "clarify",
    "st": "single",
    "mt": "multi",
    "cc": "chat",
    "cq": "clarify",
}
_RELATIONS = {"指代理解": "implicit", "省略成分": "ellipsis", "长期记忆": "memory"}
_WEEKDAY = "星期"
_ROLE = re.compile(
    r"\s*(?:user|assistant|ai assistant|agent|ai agent|用户|助手|ai agent助手)\s*[:：]\s*", re.I
)


@dataclass(frozen=True, slots=True)
class Said:
    """One text of a dialogue."""

    by_user: bool
    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """One gold step."""

    name: str
    """Name of a tool as upstream writes it, or of a pseudo tool."""
    arguments: dict[str, JSON]
    after: tuple[int, ...]
    """Positions of the nodes that come before."""
    observation: JSON
    user_input: str
    """What the user answers to a question; empty for any other node."""


@dataclass(frozen=True, slots=True)
class Mission:
    """One request with its gold."""

    text: str
    kind: MissionType | None
    """None: the record names no type."""
    nodes: tuple[Node, ...]
    relation: str
    """implicit, ellipsis or memory, or upstream's own word; empty: it leans on no other mission."""
    date: str
    """In words; empty where none is told."""
    before: tuple[Said, ...]
    """What is said in its segment before the request."""
    said: tuple[Said, ...]
    """What is said after the request."""
    worded_otherwise: bool
    """The request among the messages differs from the task; it is the one that counts."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One record."""

    id: str
    missions: tuple[Mission, ...]
    tools: list[Any]
    """Documents, the pseudo tools left out."""


def check_language(language: str) -> None:
    """Make sure that MMTB has a language.

    Raises:
        UnknownNameError: MMTB has not.
    """
    check_name(f"language of {BENCHMARK}", language, LANGUAGES)


def read_dialogue(record: Any, language: str) -> Dialogue:
    """Return a test record as a dialogue.

    Args:
        record: As upstream has it.
        language: en or zh.

    Raises:
        CountedFault: What is wrong has a name of its own: `unaligned_lists`, `empty_mission`,
            `no_final_answer`, `duplicate_index`, `dangling_dependency`, `cyclic_dependencies`,
            `messages_do_not_alternate`.
        DataError: A field is missing or malformed.
    """
    refuse_deep(record)
    return _Reader(record, "english_" if language == "en" else "").dialogue()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one record."""

    record: Any
    """As upstream has it."""
    prefix: str
    """Of the names of fields that there are in both languages."""

    def dialogue(self) -> Dialogue:
        texts = self._twin("task")
        if not texts:
            raise CountedFault("empty_mission", "a dialogue without a mission")
        count = len(texts)
        answers = _aligned(self._twin("answer_list"), "answer_list", count)
        kinds = _aligned(self.record.get("type") or [None] * count, "type", count)
        dates, relations = self._dates(count), self._relations(count)
        segments = self._segments(count)
        places = _aligned(self.record.get("task_ids") or [0] * count, "task_ids", count)
        missions = []
        for n in range(count):
            try:
                request, before, after, differs = _spoken(texts[n], segments[n], places[n])
                nodes = read_nodes(answers[n])
                kind = None if kinds[n] is None else _kind(kinds[n])
            except CountedFault as fault:
                raise CountedFault(fault.reason, f"mission {n}: {fault}") from fault
            except DataError as error:
                raise DataError(f"mission {n}: {error}") from error
            missions.append(
                Mission(request, kind, nodes, relations[n], dates[n], before, after, differs)
            )
        _check_alternation(missions)
        tools = [tool for tool in entries(self._twin("tools")) if _name(tool) not in PSEUDO]
        given = self.record.get("id")
        own = str(given) if isinstance(given, int) else field_of(self.record, "id", str)
        return Dialogue(own, tuple(missions), tools)

    def _twin(self, name: str) -> list[Any]:
        """Return a list that there is in both languages.

        Raises:
            DataError: It is no list, or the record has it in the other language alone.
        """
        own = self.prefix + name
        language, other = ("zh", name) if self.prefix else ("en", f"english_{name}")
        if own not in self.record and isinstance(self.record.get(other), list):
            raise DataError(
                f"the field {own!r} is missing, while there is {other!r}: the record is in "
                f"{language}; import it with --language {language}"
            )
        return field_of(self.record, own, list)

    def _either(self, name: str) -> Any:
        """Return what the language has of its own, else what both share; None: nothing."""
        own = self.record.get(self.prefix + name)
        return self.record.get(name) if own is None else own

    def _dates(self, count: int) -> list[str]:
        given = self._either("env_info")
        if given is None:
            return [""] * count
        dates = _aligned(given, "env_info", count) if isinstance(given, list) else [given] * count
        for date in dates:
            expect(date, str, "env_info", "a text or a list of texts")
        return [date.partition(_WEEKDAY)[0].strip() for date in dates]

    def _relations(self, count: int) -> list[str]:
        """Return how each mission leans on others; of upstream's two ways to list it, either."""
        given = self.record.get("turn_type")
        if given is None:
            return [""] * count
        turns = _aligned(given, "turn_type", count)
        leans = [turn is True or str(turn).strip().lower() in ("真", "true") for turn in turns]
        kinds = self._either("turn_subtypes") or []
        if not isinstance(kinds, list) or len(kinds) not in (0, count, sum(leans)):
            raise CountedFault(
                "unaligned_lists",
                f"turn_subtypes: expected {counted(count, 'entry')}, or {sum(leans)}, got "
                f"{shortened(kinds)}",
            )
        if len(kinds) < count:
            rest = iter(kinds)
            kinds = [next(rest, "") if lean else "" for lean in leans]
        return [_relation(kind) if lean else "" for kind, lean in zip(kinds, leans, strict=True)]

    def _segments(self, count: int) -> Sequence[list[Said] | None]:
        """Return the messages of each mission; None of each where the record has none at all."""
        given = self._either("messages")
        if not given:
            return [None] * count
        expect(given, list, "messages")
        segments: list[list[Said]] = [[]]
        for position, message in enumerate(given):
            if isinstance(message, str) and MARK in message:
                segments.append([])
            else:
                segments[-1].append(_message(message, position))
        found = [segment for segment in segments if segment]
        return _aligned(found, "segments of messages", count)


def _aligned(values: Any, name: str, count: int) -> list[Any]:
    """Return a list that has an entry a mission."""
    found = expect(values, list, name)
    if len(found) != count:
        raise CountedFault(
            "unaligned_lists",
            f"{name}: expected {counted(count, 'entry')}, one a mission, got {len(found)}",
        )
    return found


def _spoken(
    task: Any, segment: list[Said] | None, place: Any
) -> tuple[str, tuple[Said, ...], tuple[Said, ...], bool]:
    """Return a mission's request, what is said before and after, and whether the task differs."""
    expect(task, str, "task")
    text = without_role(task)
    if not text:
        raise CountedFault("empty_mission", "task: the request is empty")
    if segment is None:
        return text, (), (), False
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(segment):
        raise DataError(
            f"task_ids: expected a place among {counted(len(segment), 'message')}, got "
            f"{shortened(place)}"
        )
    request = segment[place]
    if not request.by_user:
        raise DataError(f"task_ids: message {place} is not the user's")
    before, after = tuple(segment[:place]), tuple(segment[place + 1 :])
    return request.text or text, before, after, request.text != text


def read_nodes(given: Any) -> tuple[Node, ...]:
    """Return the gold steps of a mission, dependencies as positions.

    Raises:
        CountedFault: As of `read_dialogue`.
        DataError: A field is missing or malformed.
    """
    expect(given, list, "answer_list", "a list of nodes")
    if not given:
        raise CountedFault("empty_mission", "answer_list: a mission without a node")
    indices = [
        field_of({"idx": n, **node} if isinstance(node, dict) else node, "idx", int)
        for n, node in enumerate(given)
    ]
    repeated = sorted({index for index in indices if indices.count(index) > 1})
    if repeated:
        raise CountedFault("duplicate_index", f"answer_list: idx {repeated[0]} stands twice")
    place = {index: position for position, index in enumerate(indices)}
    nodes = tuple(_node(node, place) for node in given)
    try:
        levels([node.after for node in nodes])
    except DataError as error:
        raise CountedFault("cyclic_dependencies", f"answer_list: {error}") from error
    ends = [position for position, node in enumerate(nodes) if node.name == ANSWER]
    if ends != [len(nodes) - 1]:
        raise CountedFault(
            "no_final_answer",
            f"answer_list: expected {ANSWER} as the last node and nowhere else, it is at {ends}",
        )
    return nodes


def _node(node: dict[str, Any], place: Mapping[int, int]) -> Node:
    action = field_of(node, "action", dict)
    refuse_others(action, ("name", "arguments"), "action")
    name, arguments = field_of(action, "name", str), _arguments(action.get("arguments"))
    after = field_of({"dependency_list": [], **node}, "dependency_list", list)
    for index in after:
        if not isinstance(index, int) or index not in place:
            raise CountedFault(
                "dangling_dependency",
                f"answer_list: a node depends on idx {shortened(index)}; there are {sorted(place)}",
            )
    user_input = node.get("user_input")
    return Node(
        name,
        arguments,
        tuple(sorted({place[index] for index in after})),
        node.get("observation"),
        without_role(user_input) if isinstance(user_input, str) else "",
    )


def _arguments(given: Any) -> dict[str, JSON]:
    """Return arguments, which may stand as the text of their JSON."""
    if isinstance(given, str):
        try:
            given = json_of_text(given) if given.strip() else {}
        except ValueError as error:
            raise DataError(f"arguments: not JSON: {shortened(given)}") from error
    if given is None:
        return {}
    return expect(given, dict, "arguments")


def _message(message: Any, position: int) -> Said:
    with located(f"messages.{position}"):
        role, content = field_of(message, "role", str), field_of(message, "content", str)
    if role not in ("user", "assistant"):
        raise CountedFault(
            "messages_do_not_alternate",
            f"messages.{position}: expected the role user or assistant, got {shortened(role)}",
        )
    return Said(role == "user", without_role(content))


def _check_alternation(missions: Sequence[Mission]) -> None:
    """Make sure that user and agent take turns up to the last request, as a model is told it."""
    told: list[Said] = []
    for mission in missions:
        told += [*mission.before, Said(True, mission.text)]
        if mission is not missions[-1]:
            told += mission.said or (Said(False, ""),)
    for position, said in enumerate(told):
        if said.by_user != (position % 2 == 0):
            raise CountedFault(
                "messages_do_not_alternate",
                f"messages: user and assistant do not take turns at message {position}",
            )


def _kind(given: Any) -> MissionType:
    word = given.strip().lower() if isinstance(given, str) else ""
    known = _MISSION_TYPES
    kinds: dict[str, MissionType] = {**known, **{kind: kind for kind in known.values()}}
    if word not in kinds:
        raise DataError(f"type: expected one of {', '.join(known)}, got {shortened(given)}")
    return kinds[word]


def _relation(given: Any) -> str:
    """Return our word for a relation; another one stays as it is."""
    text = given.strip() if isinstance(given, str) else ""
    return next((ours for word, ours in _RELATIONS.items() if word in text), text)


def _name(tool: Any) -> str | None:
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def without_role(text: str) -> str:
    """Return a text without the name of who says it, such as `User:`."""
    found = _ROLE.match(text)
    return text[found.end() :].strip() if found else text.strip()
