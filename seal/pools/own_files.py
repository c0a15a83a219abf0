"""A benchmark of files; its preview."""

from __future__ import annotations

import ast
import inspect
import logging
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from seal.core import (
    DataError,
    Goal,
    SealError,
    Task,
    Tool,
    UsageError,
    fault,
    located,
    nearest,
    shortened,
    told_names,
)
from seal.core.conditions import ANY, Called
from seal.core.registry import is_module, load_module
from seal.core.values import exact_json, json_text, number_fault, parse_module
from seal.pools.benchmark import Benchmark, OwnTool, OwnTools
from seal.pools.importer import TOOLS, Notes, tasks_of
from seal.pools.imports import write_pool
from seal.pools.own_benchmark import (
    ask,
    called,
    check_gold,
    checked_tool,
    own_tasks,
    own_tools,
    together,
)
from seal.pools.reading.files import (
    Reader,
    exact_json_of_text,
    expect,
    holds_array,
    json_file,
    json_of_text,
    listed,
    parse_exactly,
    usable,
    yaml_document,
)
from seal.pools.reading.openapi import openapi_tools
from seal.pools.reading.tables import rows
from seal.pools.reading.tool_schemas import (
    given_arguments,
    literal,
    parameters_schema,
    parsed_call,
    python_type,
)

# -- A benchmark of files as people have them: tools of one, tasks of another.
#
# Tools are a Python module of functions, schemas of OpenAI's or Anthropic's form, an MCP listing or
# an OpenAPI document. A CSV table with the columns name, description and parameters holds tools
# too. Tasks are the rows of a table (`seal.pools.reading.tables`), of a data frame, or of a data
# set of Hugging Face.

_log = logging.getLogger(__name__)

UNANSWERABLE = "unanswerable"
"""In the column of calls: no tool serves the request."""
HUB = "hf:"
"""Before the name of a data set on Hugging Face's hub: `hf:org/name:split`."""
_YAML = (".yaml", ".yml")
_TAG = 60
"""Characters of a value that makes a tag; what is longer groups nothing."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "question", "request", "prompt", "instruction", "input", "text"),
    "calls": ("calls", "gold", "gold_calls", "tool_calls", "expected_calls", "ground_truth"),
    "tools": ("tools", "tool", "gold_tools", "relevant_tools", "expected_tools"),
    "answer": ("answer", "answers", "expected_answer", "reference", "output"),
    "tells": ("tells", "slots"),
    "system": ("system", "system_prompt", "system_message"),
    "id": ("id", "_id", "task_id"),
}
"""What is read of a row to the columns that are it, where `--map` does not say otherwise."""


_Kind = TypeVar("_Kind")


def benchmark_of(
    name: str, tools: Any, tasks: Any, columns: Mapping[str, str] | None = None
) -> tuple[Benchmark, Notes]:
    """Return the benchmark of tools and tasks, and what was left out of the tasks.

    Args:
        name: Of the benchmark.
        tools: Path of a file, dotted name of a Python module, or tools.
        tasks: Path of a table, `hf:NAME[:SPLIT]`, a data frame, or rows as maps.
        columns: What is read (`COLUMNS`) to the column that is it.

    Raises:
        DataError: A file is malformed, or each of its rows is: the first one's fault.
        UsageError: Tools that cannot be, or a column that is not known.
    """
    given = columns or {}
    for part in given:
        if part not in COLUMNS:
            raise UsageError(f"--map {part}: expected one of {', '.join(COLUMNS)}")
    notes = Notes(places=math.inf)
    from_file = isinstance(tools, str | Path)
    own = _sound(name, tools, notes) if from_file else own_tools(name, tools)
    reader = _Rows(own, given)
    path, records = _table(tasks)
    read = list(usable(path, reader.task, notes, records))
    if not read:
        raise DataError(f"{path} holds no row; give a table with a column 'query'")
    reader.check_columns(path)
    kinds = [own.functions.get(tool.id, tool) for tool in own.by_id.values()]
    return Benchmark(name, tools=kinds, tasks=read), notes


def _sound(name: str, source: str | Path, notes: Notes) -> OwnTools:
    """Return the tools of a file; those that cannot be read or used are left out and counted."""
    faults: list[SealError] = []

    def leave_out(fault: SealError) -> None:
        faults.append(fault)
        notes.leave_out("malformed_tool", str(fault).removeprefix(f"benchmark {name!r}: "))

    found: dict[str, tuple[Tool, OwnTool]] = {}
    for tool in _tools_of(source, leave_out):
        try:
            checked = checked_tool(name, tool)
        except (UsageError, DataError) as error:
            leave_out(error)
            continue
        if checked.name in found:
            leave_out(DataError(f"an earlier tool is named {checked.name!r}; rename one"))
        else:
            found[checked.name] = checked, tool
    if faults and not found:
        raise faults[0]
    return together(name, _some(list(found.values()), source))


def save(bench: Benchmark, read: Notes, folder: Path) -> None:
    """Write a benchmark of files to a pool folder, whose import.json says what was left out.

    Raises:
        UsageError: The folder exists and is no pool.
    """

    def records(source: Any, notes: Notes, **_: Any) -> Iterator[Tool | Task]:
        notes.dropped.update(read.dropped)
        notes.malformed += read.malformed
        yield from bench._records(source, notes)

    write_pool(bench.name, records, None, folder)


def tools_of(source: str | Path) -> list[OwnTool]:
    """Return the tools of a file, or of a Python module by its dotted name.

    Raises:
        DataError: The file is no such file, or a row of it is none.
        UsageError: The module cannot be imported, or there is no tool.
    """

    def refuse(fault: SealError) -> None:
        raise fault

    return _some(list(_tools_of(source, refuse)), source)


def _some(found: list[_Kind], source: str | Path) -> list[_Kind]:
    """Return the tools that were found.

    Raises:
        UsageError: There is none.
    """
    if not found:
        raise UsageError(
            f'{source} holds no tool; give it some, such as {{"name": "get_order", "parameters": '
            '{"type": "object", "properties": {"id": {"type": "string"}}}}'
        )
    return found


def _tools_of(source: str | Path, torn: Callable[[SealError], None]) -> Iterator[OwnTool]:
    """Yield the tools of a file or module; `torn` is told a row that is none.

    A row may declare several, as Gemini has it.
    """
    for row in _rows_of(source, torn):
        declared = None
        if isinstance(row, Mapping):
            declared = row.get("functionDeclarations", row.get("function_declarations"))
        if isinstance(declared, list):
            yield from declared
        else:
            yield row


def _rows_of(source: str | Path, torn: Callable[[SealError], None]) -> Iterator[OwnTool]:
    path, kind = Path(source), Path(source).suffix.lower()
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name the file of the tools")
    name = str(source)
    if not path.is_file() and (kind == ".py" or not (name.isidentifier() or is_module(name))):
        raise UsageError(f"{path}: no such file, and no name of a Python module; give either")
    if kind == ".py" or not path.is_file():
        yield from _functions(_module(path, name))
    elif kind in _YAML:
        yield from _schemas(path, yaml_document(path), torn)
    elif kind == ".json" and not holds_array(path):
        yield from _schemas(path, json_file(path, parse_exactly), torn)
    else:
        for place, row in rows(path, torn, parse_exactly):
            of_cells = isinstance(row, dict) and isinstance(row.get("parameters"), str)
            try:
                yield _of_row(place, row) if kind == ".csv" or of_cells else row
            except DataError as error:
                torn(error)


def _module(path: Path, name: str) -> Any:
    """Return a module that the user names by its file or by its dotted name."""
    if path.suffix == ".py":
        name = path.stem
        if str(path.parent.resolve()) not in sys.path:
            sys.path.append(str(path.parent.resolve()))
    module = load_module(name)
    home = getattr(module, "__file__", None)
    if path.suffix == ".py" and (home is None or Path(home).resolve() != path.resolve()):
        raise UsageError(f"{path}: another module is called {name}; rename the file")
    return module


def _functions(module: Any) -> list[OwnTool]:
    found = [
        function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    ]
    if not found:
        raise UsageError(f"{module.__name__} has no function whose name begins with a letter")
    return list(found)


def _schemas(path: Path, content: Any, torn: Callable[[SealError], None]) -> Iterator[OwnTool]:
    if isinstance(content, dict) and isinstance(content.get("result"), dict):
        content = content["result"]
    if isinstance(content, dict) and "paths" in content:
        with located(path):
            yield from openapi_tools(content, lambda fault: torn(DataError(f"{path}: {fault}")))
        return
    if isinstance(content, dict):
        several = next((content[key] for key in ("tools", "functions") if key in content), None)
        content = [content] if several is None else several
    yield from expect(content, list, path, "schemas, an MCP listing or an OpenAPI document")


def _of_row(place: str, row: Mapping[str, Any]) -> OwnTool:
    name = row.get("name")
    if not name:
        raise DataError(f"{place}: expected a name; the columns are name, description, parameters")
    written = row.get("parameters") or ""
    try:
        parameters = _written_schema(written)
    except (DataError, ValueError) as error:
        told = error if isinstance(error, DataError) else number_fault(error)
        raise DataError(
            f"{place}: parameters: {told}; write a JSON Schema, or such as "
            "order_id: str, days: int = 3"
        ) from error
    tool = {"name": name, "description": row.get("description") or "", "parameters": parameters}
    marks = {key: row[key] for key in ("writes", "annotations") if row.get(key) not in (None, "")}
    written = marks.get("writes")
    if isinstance(written, str) and written.casefold() in _TRUTHS:
        marks["writes"] = _TRUTHS[written.casefold()]
    return {**tool, **marks}


_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""How a cell says whether a tool writes."""


def _written_schema(text: str) -> Mapping[str, Any]:
    """Return the schema of arguments, written as JSON or as in a Python signature."""
    if text.startswith("{"):
        return parameters_schema(json_of_text(text)).schema
    try:
        (function,) = ast.parse(f"def f({text}): ...").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"{shortened(text)} is no list of arguments") from error
    if not isinstance(function, ast.FunctionDef):
        raise ValueError(f"{shortened(text)} is no list of arguments")
    given = [*function.args.args, *function.args.kwonlyargs]
    plain = len(function.args.args) - len(function.args.defaults)
    defaults = [*[None] * plain, *function.args.defaults, *function.args.kw_defaults]
    properties, required = {}, []
    for argument, default in zip(given, defaults, strict=True):
        kind = python_type(ast.unparse(argument.annotation) if argument.annotation else "")
        value = None if default is None else literal(ast.unparse(default))
        properties[argument.arg] = {**kind.schema, **({} if value is None else {"default": value})}
        required += [argument.arg] * (default is None and not kind.optional)
    return {"type": "object", "properties": properties, "required": required}


def _table(tasks: Any) -> tuple[Path, Reader]:
    """Return what tasks are read of: a place for messages, and what yields rows."""
    if isinstance(tasks, str) and tasks.startswith(HUB):
        return Path(tasks), listed(_of_hub(tasks))
    if isinstance(tasks, str | Path):
        if not Path(tasks).exists():
            raise UsageError(f"{tasks}: no such file or folder; of a hub write {HUB}NAME[:SPLIT]")
        _refuse_written(Path(tasks))
        return Path(tasks), partial(rows, parse=parse_exactly)
    if hasattr(tasks, "to_list"):  # a data set of Hugging Face, which has `to_dict` of columns
        tasks = tasks.to_list()
    elif hasattr(tasks, "to_dict"):
        tasks = tasks.to_dict("records")
    if not isinstance(tasks, Iterable):
        raise UsageError(
            f"tasks: expected the path of a table, a data frame or rows, got {shortened(tasks)}"
        )
    return Path("tasks"), listed(tasks)


def _refuse_written(folder: Path) -> None:
    """Raise UsageError where what should hold questions holds a run or pool that SEAL wrote."""
    for file in sorted(folder.rglob(TOOLS)):
        if tasks_of(file.parent).is_file():
            kind = "run" if file.with_name("run.json").is_file() else "pool"
            raise UsageError(
                f"{folder} holds no questions: {file.parent} is a {kind} that SEAL wrote; name the "
                "file of the questions"
            )


def _of_hub(tasks: str) -> Iterable[Any]:
    try:
        from datasets import load_dataset  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise UsageError(f"{tasks}: datasets is not installed: pip install datasets") from error
    name, _, split = tasks.removeprefix(HUB).partition(":")
    try:
        found: Iterable[Any] = load_dataset(name, split=split or "test")
    except Exception as error:  # of whatever the hub, the network and the data set raise
        raise DataError(f"{tasks}: it cannot be loaded: {fault(error)}") from error
    return found


_IN_PYTHON = {
    "ends_as": "ends_as(...)",
    "final_state": "FinalState(...)",
    "in_order": "ask(..., in_order=True)",
    "refused": "refused(...)",
}
"""Columns of what only tasks in Python can ask for, and how."""


class _Rows:
    """Makes tasks of rows.

    Args:
        tools: Those that gold may name.
        columns: As the user maps them.
    """

    def __init__(self, tools: OwnTools, columns: Mapping[str, str]) -> None:
        self._tools = tools
        self._mapped = columns
        self._seen: dict[str, None] = {}
        self._ids: set[str] = set()

    def task(self, row: Any) -> Task:
        """Return the task of a row.

        Raises:
            DataError: It is no map, has no query or an id of an earlier one, or its gold cannot be.
        """
        cells = {str(key): _plain(value) for key, value in expect(row, dict).items()}
        values = {column: value for column, value in cells.items() if _is_there(value)}
        self._seen |= dict.fromkeys(map(str, row))
        at = {part: self._column(part, values, cells) for part in COLUMNS}
        query = values.get(at["query"])
        if not isinstance(query, str):
            names = told_names(map(str, row))
            others = f"; the columns are: {names}; map one: --map query=COLUMN"
            raise DataError(
                f"no text in the column {at['query']!r}" + others * (at["query"] not in cells)
            )
        system = values.get(at["system"], "")
        if not isinstance(system, str):
            raise DataError(f"{at['system']}: expected a text, got {shortened(system)}")
        unanswerable = values.get(at["calls"]) == UNANSWERABLE
        tags = {
            name: value
            for name, value in values.items()
            if name not in at.values() and _is_tag(value)
        }
        try:
            gold = [] if unanswerable else self._gold(values, at)
            task = ask(
                query,
                *(gold or ()),
                answer=_answers(values.get(at["answer"])),
                tells=_tells(values.get(at["tells"])),
                needs_no_tool=gold == [] and not unanswerable,
                unanswerable=unanswerable,
                system=system,
                id=str(values.get(at["id"], "")),
                tags=tags,
            )
            check_gold(own_tasks("row", [task], self._tools), self._tools.by_id)
        except DataError:
            raise
        except SealError as error:
            raise DataError(str(error).removeprefix("task 'row-001'").lstrip(": ")) from error
        if task.id in self._ids:
            raise DataError(f"an earlier row has the id {task.id!r}; give this one its own")
        self._ids |= {task.id} - {""}
        return task

    def check_columns(self, path: Path) -> None:
        """Tell of columns that files cannot have; raise UsageError where a mapped one is none."""
        for column in (name for name in _IN_PYTHON if name in self._seen):
            _log.warning(
                "%s: the column %r becomes a tag: a file cannot say that; make the tasks in "
                "Python, with seal.%s",
                path,
                column,
                _IN_PYTHON[column],
            )
        for part, column in self._mapped.items():
            if column not in self._seen:
                raise UsageError(
                    f"--map {part}={column}: {path} has no column {column!r}; it has: "
                    + told_names(self._seen)
                )

    def _column(self, part: str, *among: Mapping[str, Any]) -> str:
        known = (name for cells in among for name in COLUMNS[part] if name in cells)
        return self._mapped.get(part) or next(known, part)

    def _gold(self, values: Mapping[str, Any], at: Mapping[str, str]) -> list[Called] | None:
        """Return the gold calls; none: no call is right; None: the row does not say."""
        for part in ("calls", "tools"):
            if at[part] in values:
                return [self._called(one) for one in _several(values[at[part]])]
        return None

    def _called(self, one: Any) -> Called:
        if isinstance(one, str) and "(" in one:
            call = parsed_call(one)
            written = ast.unparse(call.func)
            tool = self._tools.by_id.get(self._tools.ids.get(written, ""))
            # Of a tool that is not there whoever checks the gold says more.
            names = (
                map(str, range(len(call.args))) if tool is None else tool.parameters["properties"]
            )
            return called(written, **given_arguments(call, list(names)))
        if isinstance(one, str):
            return called(one, ANY)
        name, given = _named_call(one)
        return called(name, ANY) if given is None else called(name, **given)


_NAMES = ("name", "function", "tool", "tool_name", "function_name")
_ARGUMENTS = ("arguments", "parameters", "input", "args", "kwargs")
"""Keys of a call's arguments: OpenAI's, Llama's, Anthropic's, LangChain's, and those of Python."""
_WITHIN = ("function", "function_call", "functionCall")
"""Keys of a map that holds name and arguments."""
_BESIDE = frozenset({"id", "call_id", "index", "status", "type"})
"""Keys of a call that say nothing of what is right."""


def _named_call(one: Any) -> tuple[str, dict[str, Any] | None]:
    """Return name and arguments of a gold call that is a map; None: it has no key for them.

    Raises:
        DataError: It has a key that is not known, two names, arguments under two keys, or such as
            are no map. No key is passed over: what it asks for would be asked of nobody.
    """
    fields: dict[str, Any] = dict(expect(one, dict, what="a call"))
    for key in [key for key in _WITHIN if isinstance(fields.get(key), dict)]:
        inner = fields.pop(key)
        for twice in (name for name in inner if name in fields and name not in _BESIDE):
            raise DataError(f"a call has {twice!r} twice, also in its {key!r}; keep one")
        fields |= inner
    said = {key: value for key, value in fields.items() if value is not None}
    for key in said.keys() - {*_NAMES, *_ARGUMENTS, *_BESIDE}:
        close = nearest(str(key), _ARGUMENTS)
        raise DataError(
            f"a call has the key {shortened(key)}, which is not known; write its name under 'name' "
            "and its arguments under 'arguments'" + (f". Did you mean {close!r}?" if close else "")
        )
    names = [key for key in _NAMES if key in said]
    if len(names) != 1 or not isinstance(said[names[0]], str):
        told = f"names under {' and '.join(names)}" if names else "no name"
        raise DataError(f"expected a call with name and arguments, got {told}: {shortened(one)}")
    name = said[names[0]]
    given = [key for key in _ARGUMENTS if key in fields]
    under = [key for key in given if key in said] or given[:1]
    if not under:
        return name, None
    if len(under) > 1:
        raise DataError(
            f"the call of {name} has arguments under {' and '.join(under)}; keep one of them"
        )
    return name, _argument_map(name, under[0], fields[under[0]])


def _argument_map(name: str, key: str, given: Any) -> dict[str, Any]:
    """Return the arguments of a gold call, from JSON text too; a blank text has none."""
    if isinstance(given, str):
        place = f"{key} of {name}"
        given = (
            parse_exactly(given.encode("utf-8", "surrogatepass"), place) if given.strip() else {}
        )
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given):
        raise DataError(
            f"{key} of {name}: expected a map of names and values, got {shortened(given)}; write "
            "{} for no arguments, and leave the key out where any are right"
        )
    return given


def _several(value: Any) -> list[Any]:
    """Return what a cell of gold lists: JSON, calls as Python a line each, or names."""
    if isinstance(value, str):
        try:
            value = exact_json_of_text(value)
        except ValueError:
            lines = [line.strip() for line in _statements(value)]
            parts = [[line] if "(" in line else line.split(",") for line in lines if line]
            return [part.strip() for line in parts for part in line]
    return value if isinstance(value, list) else [value]


def _statements(text: str) -> list[str]:
    """Return what semicolons and line breaks part, but for those within a quoted argument."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        body = parse_module(text).body
    except ValueError:
        return text.replace(";", "\n").splitlines()
    # Not by ast.get_source_segment, which splits the whole text once a statement.
    raw = text.encode()
    begins = [0, *accumulate(len(line) + 1 for line in raw.split(b"\n"))]
    ends = [begins[(one.end_lineno or 1) - 1] + (one.end_col_offset or 0) for one in body]
    starts = [begins[one.lineno - 1] + one.col_offset for one in body]
    return [raw[start:end].decode() for start, end in zip(starts, ends, strict=True)]


def _answers(value: Any) -> Sequence[str | float]:
    if value is None:
        return ()
    if isinstance(value, str) and value.startswith("["):
        try:
            value = exact_json_of_text(value)
        except ValueError:
            return (value,)
    found = value if isinstance(value, list) else [value]
    for one in found:
        if one is None or isinstance(one, dict | list):
            raise DataError(
                f"answer: expected a text, a number or a list of them, got {shortened(one)}; write "
                "the values that the right answer states"
            )
    return [one if isinstance(one, int | float) else str(one) for one in found]


def _tells(value: Any) -> Any:
    """Return what a cell says of values to tell: JSON, or one value."""
    if isinstance(value, str) and value[:1] in "[{":
        try:
            return exact_json_of_text(value)
        except ValueError as error:
            raise DataError(f"tells: malformed JSON: {error}") from error
    return () if value is None else value


def _plain(value: Any) -> Any:
    """Return a cell without NumPy, which data frames hold lists and numbers in."""
    return value.tolist() if hasattr(value, "tolist") else value


def _is_there(value: Any) -> bool:
    """Tell whether a cell holds something: no null, no blank text, no number that is none."""
    return not (value is None or value != value or (isinstance(value, str) and not value.strip()))


def _is_tag(value: Any) -> bool:
    if not isinstance(value, str | bool | int | float) or len(str(value)) > _TAG:
        return False
    return bool(exact_json(value) == value)


# -- What a benchmark of one's own holds, and what each metric can say of it.


class Preview(NamedTuple):
    """What metrics can say."""

    metrics: str
    tasks: int
    """Of which they have a value."""
    why: str


def said_by(tasks: Sequence[Task]) -> list[Preview]:
    """Return what the metrics of every run can say of tasks of one goal each."""
    goals = [task.goals[0] for task in tasks]
    calls = [_calls(goal) for goal in goals]
    answers = sum(bool(goal.told) for goal in goals)
    refused = sum(goal.needs_no_tool and not goal.told for goal in goals)
    alone = sum(bool(c) and not g.told for g, c in zip(goals, calls, strict=True))
    decided = answers + alone + refused
    named = sum(map(bool, calls))
    valued = sum(any(call.arguments is not None for call in called) for called in calls)
    without = sum(goal.plans is not None and not goal.plans[0].milestones for goal in goals)
    open_ = len(goals) - decided
    none = f", {refused} no call" if refused else ""
    rest = f"; {open_} need a judge: --role-model judge=MODEL" if open_ else ""
    return [
        Preview(
            "pass_rate", decided, f"{answers} have an answer, {alone} gold calls alone{none}{rest}"
        ),
        Preview("call_f1, call_recall, call_precision", named, "tasks with gold calls"),
        Preview("param_acc_gold, param_acc_matched", valued, "gold calls with arguments"),
        Preview(
            "recall, mrr, ndcg of retrieval", named, "tools of gold calls, where one retrieves"
        ),
        Preview("abstention", without, "tasks for which no call is right"),
    ]


def gold_of(goal: Goal) -> str:
    """Return the gold calls of a goal in a line, those of its first plan."""
    calls = [_written(call) for call in _calls(goal)]
    if goal.plans is None:
        return "not known"
    return "; ".join(calls) or "no call"


def _calls(goal: Goal) -> list[Called]:
    return [call for plan in (goal.plans or ())[:1] for call in plan.calls()]


def _written(call: Called) -> str:
    name, refused = call.tool.rpartition("/")[2], ", to be refused" if call.refused else ""
    if call.arguments is None:
        return f"{name}{refused}"
    given = call.canonical_arguments().items()
    values = ", ".join(f"{argument}={json_text(value)}" for argument, value in given)
    return f"{name}({values}){refused}"
