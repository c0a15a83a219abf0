"""What every retriever keeps to; documents of tools."""

from __future__ import annotations

import hashlib
import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from seal.core import (
    DataError,
    KnownTools,
    Longer,
    OptionError,
    Pool,
    Query,
    Tool,
    UnknownNameError,
    UsageError,
)
from seal.core.registry import Notation, Registry, label_of
from seal.core.secrets import refuse_secret
from seal.core.settings import checked_names
from seal.core.text import BYTES_PER_TOKEN, count_by_bytes, words

# -- What every retriever keeps to: cut-off, order, options as a text.

DECIMALS = 6
"""Scores are rounded to this many decimals: the noise of one machine's arithmetic lies below."""

Number = TypeVar("Number", int, float)
Hits: TypeAlias = list[tuple[str, float]]
"""(tool id, score), best first, equal scores in the order of ids."""


def check_k(k: int) -> None:
    """Reject a cut-off below 1.

    Raises:
        UsageError: k is less than 1.
    """
    if k < 1:
        raise UsageError(f"k = {k}: a retriever returns at least 1 tool; give --top-k 1 or more")


def refuse_unknown_options(whose: str, given: Iterable[str], known: Collection[str]) -> None:
    """Reject options that nothing reads; `base_url` is the whole run's, and passes.

    Raises:
        UnknownNameError: Lists the known ones.
    """
    for name in given:
        if name not in known and name != "base_url":
            raise UnknownNameError(f"option -R of {whose}", name, known)


def number_option(options: Mapping[str, Any], name: str, default: float, most: float) -> float:
    """Return an option that is a number from 0 to `most`, else its default.

    Raises:
        OptionError: It is something else.
    """
    value = options.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        bounds = f"from 0 to {most:g}" if most < math.inf else "of at least 0"
        raise OptionError(f"{name} = {value!r}: expected a number {bounds}")
    return float(value)


def whole_option(options: Mapping[str, Any], name: str, default: int, least: int) -> int:
    """Return an option that is a whole number of at least `least`, else its default.

    Raises:
        OptionError: It is something else.
    """
    value = options.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(f"{name} = {value!r}: expected a whole number of at least {least}")
    return value


def above_zero(name: str, value: Any, kind: Callable[[Any], Number]) -> Number:
    """Return an option that is a number above 0; a text may spell it.

    Raises:
        OptionError: It is something else.
    """
    try:
        number = kind(value)
    except (TypeError, ValueError):
        number = kind(0)
    if not 0 < number < math.inf:
        raise OptionError(f"-R {name}={value}: expected a number above 0")
    return number


def made_of(factory: Any, given: Any, fault: str) -> Any:
    """Return what a class or function makes of one argument.

    Args:
        factory: The class or function.
        given: The argument.
        fault: What is said of a factory that takes no such argument.

    Raises:
        OptionError: The factory does not take one argument.
    """
    try:
        inspect.signature(factory).bind(given)
    except (TypeError, ValueError) as error:  # ValueError: a built-in without a signature
        raise OptionError(f"{fault} ({error})") from error
    return factory(given)


def of_worded(
    queries: Sequence[Query], answer: Callable[[Sequence[Query]], Sequence[Hits]]
) -> list[Hits]:
    """Return the hits of each query; one without a word, of blanks or emoji alone, has none.

    A vector of such a text is like those of all others, and would find tools at random.

    Args:
        queries: In order.
        answer: Gives one row for each query with words; it is not asked without any.
    """
    worded = [bool(words(query.text)) for query in queries]
    asked = [query for query, has_words in zip(queries, worded, strict=True) if has_words]
    found = iter(answer(asked) if asked else ())
    return [next(found) if has_words else [] for has_words in worded]


def by_place(tools: Iterable[str], count: int) -> Hits:
    """Return tools as hits in their order, with scores that count down from `count`."""
    return [(tool, float(count - place)) for place, tool in enumerate(tools)]


def by_score(hits: Iterable[tuple[str, float]]) -> Hits:
    """Return the hits, best first, equal scores in the order of ids."""
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


def matching(retriever: Any, hits: Iterable[tuple[str, float]]) -> Hits:
    """Return the hits of a retriever that say that a tool suits, in their order.

    A score of at most 0 of one whose attribute `lexical` is true says that nothing matched. So do
    scores of 0 alone of any that reads texts: a vector of zeros is like none.
    """
    found = list(hits)
    if getattr(retriever, "lexical", False):
        return [hit for hit in found if hit[1] > 0]
    says_nothing = getattr(retriever, "reads_text", True) and not any(score for _, score in found)
    return [] if says_nothing else found


def finite(score: Any, name: str) -> float:
    """Return a score with `DECIMALS` decimals, never -0.0.

    Raises:
        DataError: It is not finite; names the retriever.
        TypeError: It is no number; ValueError likewise.
    """
    number = round(float(score), DECIMALS) + 0.0
    if not math.isfinite(number):
        raise DataError(f"retriever {name}: a score is not a finite number, but {number}; mend it")
    return number


def ids_of(tools: Sequence[Tool]) -> Sequence[str]:
    """Return the ids of tools, ascending; as for `in_order`."""
    return tools.ids if isinstance(tools, KnownTools) else [tool.id for tool in in_order(tools)]


def in_order(tools: Sequence[Tool]) -> Sequence[Tool]:
    """Return the tools in the order of their ids, so that the order of a file never matters.

    Raises:
        DataError: There are no tools, or an id stands twice.
    """
    if not tools:
        raise DataError("the pool has no tools: nothing can be retrieved; check its tools.jsonl")
    if isinstance(tools, KnownTools):
        return tools
    ordered = sorted(tools, key=lambda tool: tool.id)
    for left, right in pairwise(ordered):
        if left.id == right.id:
            raise DataError(f"two tools of the pool have the id {left.id!r}; import it again")
    return ordered


NOTATION = Notation(
    "retriever",
    "dense,model=all-MiniLM-L6-v2,index=HNSW32",
    several_by="`seal ablate retriever` and `seal retrieve` take several",
)
"""How retrievers are written."""


@checked_names
@dataclass(frozen=True)
class RetrieverSpec:
    """Which retriever, with which options.

    Raises:
        UsageError: An option is a service's key.

    Example:
        >>> import seal
        >>> seal.RetrieverSpec("bm25", {"k1": 1.2}).identity
        'bm25,k1=1.2'
    """

    what: Any
    """A name, a dotted path, a class or factory that takes the pool, or a ready retriever."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """They go before the options of the pool."""

    def __post_init__(self) -> None:
        refuse_secret("", self.options, f"the options of the retriever {self.what}")

    @property
    def identity(self) -> str:
        """The text of the spec, options in the order of their names."""
        name = self.what if isinstance(self.what, str) else label_of(self.what)
        return NOTATION.text(name, self.options)


def parse_spec(text: str) -> RetrieverSpec:
    """Return what `NAME[,KEY=VALUE...]` says, as `seal.core.registry.Notation.parse` reads it.

    Raises:
        UsageError: The name or a key is empty, a key stands twice or has no `=`, or an option is a
            service's key.
    """
    return RetrieverSpec(*NOTATION.parse(text))


def spec_of(what: Any) -> RetrieverSpec:
    """Return the spec of whatever names or is a retriever.

    Raises:
        UsageError: A text that `parse_spec` refuses.
    """
    if isinstance(what, RetrieverSpec):
        return what
    return parse_spec(what) if isinstance(what, str) else RetrieverSpec(what)


# -- What a retriever reads of a tool: a text by a named template.
#
# A template is a pure function of a tool. The index on disk is keyed by the texts themselves, so a
# changed template never meets an old index.

Template: TypeAlias = Callable[[Tool], str]

DESCRIPTION_LIMIT = 2000
"""Characters of a description that are read; the rest of a longer one adds noise, no recall."""
DOCUMENT_LIMIT = 8000
"""Characters of a whole document."""
DEFAULT = "tool_api_description"

TEMPLATES = Registry(
    "document template",
    "seal.templates",
    {
        "full": "seal.retrievers.base:full",
        "name": "seal.retrievers.base:name",
        "name_description": "seal.retrievers.base:name_description",
        "tool_api_description": "seal.retrievers.base:tool_api_description",
    },
)

_DIGEST = re.compile(r"#[0-9a-f]{8}$")


class Names(NamedTuple):
    """What a tool is called where it comes from."""

    tool: str
    """The service or class that offers the API; empty where there is none."""
    api: str


class Documents:
    """The texts of the tools of a pool, in the order of their ids, made when they are asked for.

    Args:
        tools: The tools.
        template: As of `documents`.

    Raises:
        DataError: There are no tools, or an id stands twice.
        UnknownNameError: No template of that name.
        UsageError: The template is no function.
    """

    def __init__(self, tools: Sequence[Tool], template: Any = DEFAULT) -> None:
        self._tools = in_order(tools)
        self._function = _template(template)
        self.ids = ids_of(self._tools)

    @cached_property
    def texts(self) -> list[str]:
        """One for each tool."""
        return documents(self._tools, self._function)

    @property
    def made_of(self) -> Sequence[str]:
        """What the texts are made of, where that is known without them; else empty."""
        ours = getattr(self._function, "__module__", "") == __name__
        if not ours or not isinstance(self._tools, KnownTools):
            return ()
        return self._tools.digest, self._function.__qualname__, _code()


@cache
def _code() -> str:
    """Return the digest of the templates' own code: another version makes other texts."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def documents(tools: Iterable[Tool], template: Any = DEFAULT) -> list[str]:
    """Return one text for each tool, of at most `DOCUMENT_LIMIT` characters.

    Args:
        tools: The tools.
        template: A template's name, a dotted path, or a function of a tool.

    Raises:
        UnknownNameError: No template of that name.
        UsageError: The template is no function.
    """
    function = _template(template)
    return [shortened_document(function(tool), DOCUMENT_LIMIT) for tool in tools]


def _template(template: Any) -> Template:
    function: Any = TEMPLATES.resolve(template)
    if not callable(function):
        raise UsageError(f"the document template {template!r} is no function of a tool")
    return function  # type: ignore[no-any-return]


def template_name(template: Any) -> str:
    """Return a template's name as it stands in identities."""
    return template if isinstance(template, str) else getattr(template, "__qualname__", "custom")


def shortened_document(text: str, limit: int) -> str:
    """Return the text, cut at the last blank before `limit` characters where it is longer."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    blank = max(head.rfind(" "), head.rfind("\n"))
    # Chinese and Japanese have no blanks: a cut far before the limit would lose the text.
    return head[:blank] if blank > limit // 2 else head[:limit]


def cut_texts(
    kind: Literal["document", "query"], texts: Sequence[str], most: int, pool: Pool
) -> list[str]:
    """Return texts, each cut at a number of tokens, and tell the pool how many were longer.

    Args:
        kind: What they are.
        texts: Whole.
        most: Tokens, as `cut_at_tokens` counts them; 0: nothing is cut.
        pool: Is told, where anything may be cut.
    """
    if not most:
        return list(texts)
    cut = [cut_at_tokens(text, most) for text in texts]
    if pool.longer:
        longer = sum(len(a) < len(b) for a, b in zip(cut, texts, strict=True))
        pool.longer(Longer(kind, longer, len(texts), most))
    return cut


def cut_at_tokens(text: str, most: int) -> str:
    """Return the text, cut where it has more tokens by the measure of `count_by_bytes`."""
    if count_by_bytes(text) <= most:
        return text
    head = text.encode("utf-8", "surrogatepass")[: most * BYTES_PER_TOKEN]
    return shortened_document(text, len(head.decode("utf-8", "ignore")))


def names(tool: Tool) -> Names:
    """Return `tool` and `api` of a tool's source, else what its id `benchmark/tool/api` says."""
    service, api = tool.source.get("tool"), tool.source.get("api")
    if service and api and isinstance(service, str) and isinstance(api, str):
        return Names(service, api)
    parts = (_DIGEST.sub("", tool.id) if "#" in tool.id else tool.id).split("/", 2)
    if len(parts) == 3:
        return Names(parts[1], parts[2])
    return Names("", tool.name)


def service(tool: Tool) -> str:
    """Return what a tool shares with its siblings: the name of their service, else its own id."""
    return names(tool).tool or tool.id


def tool_api_description(tool: Tool) -> str:
    """Return "tool api: description"; the tool's name is left out where it equals the api's."""
    title = " ".join(dict.fromkeys(part for part in names(tool) if part))
    return f"{title}: {shortened_document(tool.description, DESCRIPTION_LIMIT)}"


def name(tool: Tool) -> str:
    """Return the name that a model sees."""
    return tool.name


def name_description(tool: Tool) -> str:
    """Return "name: description" with the name that a model sees."""
    return f"{tool.name}: {shortened_document(tool.description, DESCRIPTION_LIMIT)}"


def full(tool: Tool) -> str:
    """Return "tool api: description" with the category and the parameters in words."""
    parts = [tool_api_description(tool)]
    if tool.category:
        parts.append(f"Category: {tool.category}.")
    described = [
        f"{parameter} {text_or_empty(schema.get('description'))}".strip()
        for parameter, schema in properties_of(tool).items()
    ]
    if described:
        parts.append(f"Parameters: {'; '.join(described)}.")
    return " ".join(parts)


def properties_of(tool: Tool) -> dict[str, Mapping[str, Any]]:
    """Return the schemas of a tool's parameters; what is no schema is an empty one."""
    properties = tool.parameters.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        str(key): schema if isinstance(schema, dict) else {} for key, schema in properties.items()
    }


def text_or_empty(value: Any) -> str:
    """Return what should be a text; empty where it is none."""
    return value if isinstance(value, str) else ""
