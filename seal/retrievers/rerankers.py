"""Rerank, listwise, rewrite, expand: by a model or a rule; groups of tools before tools."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import Stemmer

from seal.core import (
    ChatModel,
    DataError,
    Message,
    OptionError,
    Pool,
    Query,
    Request,
    Retriever,
    Tool,
    UsageError,
    shortened,
)
from seal.core.registry import label_of, load_dotted
from seal.core.text import clauses, counted, plan_steps, shipped_prompt, split_identifiers, words
from seal.core.values import one_line
from seal.retrievers.base import (
    DEFAULT,
    DESCRIPTION_LIMIT,
    DOCUMENT_LIMIT,
    Hits,
    by_place,
    by_score,
    check_k,
    cut_texts,
    documents,
    finite,
    full,
    made_of,
    matching,
    names,
    properties_of,
    shortened_document,
    template_name,
    whole_option,
)
from seal.retrievers.build import inner_retriever
from seal.retrievers.embedders import TRUST, check_trust
from seal.retrievers.lexical import english_stop_words
from seal.retrievers.server_embedders import OPTIONS as SERVED
from seal.retrievers.server_embedders import ServerReranker
from seal.retrievers.wrappers import SentenceWise, Wrapper

# -- Rerankers: the first tools that another retriever finds, in a better order.

Pairs = Sequence[tuple[str, str]]
"""Texts of a query and of a tool."""
Heads = Sequence[Sequence[str]]
"""Ids of the first tools of each query."""


class ToolScorer(Protocol):
    """Says how well tools suit queries."""

    identity: str

    def scores(self, pairs: Pairs) -> Sequence[float]:
        """Return a number for each pair; the higher, the better."""
        ...


class _Reordering:
    """Puts the first tools of a retriever in another order; the others follow as they were.

    Scores count down from the number of tools: they hold the order, no measure.

    Args:
        pool: Options: `of`, the retriever (default the general one); `depth`, how many of its
            tools change places; `template`, the document of a tool.
        way: Of ordering, for the name.
        depth: The default.
    """

    reads_text: ClassVar[bool] = False
    measures: ClassVar[bool] = False

    def __init__(self, pool: Pool, way: str, depth: int) -> None:
        self._inner = inner_retriever(pool)
        self._depth = whole_option(pool.options, "depth", depth, 1)
        template = pool.options.get("template") or DEFAULT
        ids = [tool.id for tool in pool.tools]
        self._texts = dict(zip(ids, documents(pool.tools, template), strict=True))
        name = f"{way}/{template_name(template)}"
        self.identity = f"{label_of(self._inner)}/{name}@{self._depth}"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools that stand first.

        Raises:
            UsageError: k is less than 1.
            DataError: A score is no finite number.
            ModelError: A model or its server failed.
        """
        check_k(k)
        rows = self._inner.retrieve(queries, max(k, self._depth))
        found = [[tool for tool, _ in by_score(matching(self._inner, row))] for row in rows]
        heads = self._ordered([query.text for query in queries], [f[: self._depth] for f in found])
        return [
            by_place([*head, *tools[self._depth :]], len(self._texts))[:k]
            for head, tools in zip(heads, found, strict=True)
        ]

    def _ordered(self, queries: Sequence[str], heads: Heads) -> Heads:
        """Return the ids of each query's first tools, best first."""
        raise NotImplementedError


class Rerank(_Reordering):
    """Orders the first tools by a score of query and tool together.

    Source: Nogueira and Cho (2019), Passage Re-ranking with BERT.

    Args:
        pool: Options: those of every reranker (depth 50), and `model`: a cross-encoder of
            sentence-transformers by name or folder, `openai/NAME` behind a server (`base_url`), a
            dotted path, a function of pairs of texts, or an object or class of options with a
            method `scores(pairs)` or `predict(pairs)`. None: `WordOverlap`, the floor. `cut`:
            tokens that it reads of a query and of a tool, as of `dense`. `device`, `batch_size`,
            `revision` and `trust_remote_code` are the cross-encoder's.

    Raises:
        MissingExtraError: A cross-encoder needs the extra `embeddings`.
        UsageError: There is no such model, or an option is out of range.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset(
        {"of", "depth", "template", "cut", "model", "device", "batch_size", "revision", TRUST}
    ) | (SERVED - {"dimensions"})

    def __init__(self, pool: Pool) -> None:
        check_trust(pool)
        super().__init__(pool, "rerank", 50)
        self._cut, self._pool = whole_option(pool.options, "cut", 0, 0), pool
        cut = cut_texts("document", list(self._texts.values()), self._cut, pool)
        self._texts = dict(zip(self._texts, cut, strict=True))
        self._scorer = _scorer(pool.options, list(self._texts.values()))
        self.identity += f"({self._scorer.identity})"
        if self._cut:
            self.identity += f"/cut={self._cut}"

    def _ordered(self, queries: Sequence[str], heads: Heads) -> Heads:
        read = cut_texts("query", queries, self._cut, self._pool)
        pairs = [
            (shortened_document(query, DOCUMENT_LIMIT), self._texts[tool])
            for query, head in zip(read, heads, strict=True)
            for tool in head
        ]
        scores = list(self._scorer.scores(pairs)) if pairs else []
        if len(scores) != len(pairs):
            raise DataError(
                f"{self._scorer.identity}: {counted(len(scores), 'score')} for "
                f"{counted(len(pairs), 'pair')}"
            )
        rest = iter(scores)
        return [self._best(head, [next(rest) for _ in head]) for head in heads]

    def _best(self, head: Sequence[str], scores: Sequence[Any]) -> Sequence[str]:
        try:
            exact = [finite(score, self._scorer.identity) for score in scores]
        except (TypeError, ValueError) as error:
            raise DataError(f"{self._scorer.identity}: a score is no number: {error}") from error
        places = sorted(range(len(head)), key=lambda place: -exact[place])  # equal: as they were
        return [head[place] for place in places]


_HOSTED = re.compile(r"(?:anthropic|cohere|gemini|jina|litellm|voyage)/")
"""Begins the name of a model behind a provider's server; no model of the hub has such a name."""


def _scorer(options: Mapping[str, Any], texts: Sequence[str]) -> ToolScorer:
    what = options.get("model")
    if what is None:
        return WordOverlap(texts)
    if isinstance(what, str) and what.startswith("openai/"):
        return ServerReranker(options)
    if isinstance(what, str) and ":" in what and not Path(what).exists():
        what = load_dotted(what)
    if isinstance(what, (str, Path)):
        if options.get("base_url") or (_HOSTED.match(str(what)) and not Path(what).exists()):
            raise UsageError(
                f"rerank,model={what}: a reranker behind a server is openai/NAME,base_url=ADDRESS"
            )
        from seal.retrievers.library_embedders import CrossEncoder

        return CrossEncoder({**options, "model": str(what)})
    expected = (
        f"the reranker's model {label_of(what)} is no function of pairs of texts, and has no "
        "method scores(pairs) or predict(pairs); a class must take its options, one map"
    )
    if isinstance(what, type):
        what = made_of(what, dict(options), expected)
    methods = (getattr(what, name, None) for name in ("scores", "predict"))
    function = next((one for one in methods if callable(one)), what)
    if not callable(function):
        raise UsageError(expected)
    return _Function(label_of(what), function)


class _Function:
    """A scorer made of a function of pairs."""

    def __init__(self, identity: str, function: Callable[[Pairs], Sequence[float]]) -> None:
        self.identity = identity
        self.scores = function


class WordOverlap:
    """Scores by the words that query and tool share: 2 x shared / all, rare words counting most.

    A word counts once, however often it stands in a text, and by ln((1 + n) / (1 + df)) + 1.
    English words are stemmed, stop words left out. A score is in [0, 1].

    Args:
        texts: Of the n tools.
    """

    identity = "word-overlap"

    def __init__(self, texts: Sequence[str]) -> None:
        self._stem = Stemmer.Stemmer("english").stemWord
        self._texts = {text: self._words(text) for text in texts}
        frequency = Counter(word for text in texts for word in self._texts[text])
        self._weight = {
            word: math.log((1 + len(texts)) / (1 + n)) + 1 for word, n in frequency.items()
        }
        self._unknown = math.log(1 + len(texts)) + 1

    def scores(self, pairs: Pairs) -> Sequence[float]:
        """Return the share of each pair."""
        queries = {query: self._words(query) for query, _ in pairs}
        return [self._share(queries[query], self._texts[text]) for query, text in pairs]

    def _share(self, query: frozenset[str], tool: frozenset[str]) -> float:
        both = self._sum(query) + self._sum(tool)
        return 2 * self._sum(query & tool) / both if both else 0.0

    def _sum(self, found: frozenset[str]) -> float:
        return math.fsum(self._weight.get(word, self._unknown) for word in found)

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(self._stem(word) for word in words(text)) - english_stop_words()


_WINDOW, _STEP = 20, 10
"""Tools that a model orders at once, and by how many the window moves on."""
_TOOL_LIMIT = 400
"""Characters of a tool that a model is shown."""
_NUMBER = re.compile(r"\[(\d+)\]")


class Listwise(_Reordering):
    """Orders the first tools as a language model does that is shown them together.

    Beyond 20 tools a window moves from the last to the first by 10. What the model does not name
    keeps its order behind what it names. Source: Sun et al. (2023), Is ChatGPT Good at Search?
    (RankGPT).

    Args:
        pool: Options: those of every reranker (depth 20), and `model`, a language model as
            `seal run --model` takes it. None: `WordOverlap`, the floor.

    Raises:
        UsageError: There is no such model, or an option is out of range.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"of", "depth", "template", "model"})
    asks_chat_model: ClassVar[bool] = True

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, "listwise", _WINDOW)
        self._ranker = asked(pool, "listwise") or WordOverlap(list(self._texts.values()))
        self.identity += f"({self._ranker.identity})"

    def _ordered(self, queries: Sequence[str], heads: Heads) -> Heads:
        return at_once(lambda each: self._by_windows(*each), zip(queries, heads, strict=True))

    def _by_windows(self, query: str, head: Sequence[str]) -> Sequence[str]:
        order = list(head)
        for start in range(max(0, len(order) - _WINDOW), -_STEP, -_STEP):
            window = slice(max(0, start), max(0, start) + _WINDOW)
            part = order[window]
            texts = [self._texts[tool] for tool in part]
            order[window] = [
                part[n] for n in self._places(shortened_document(query, DOCUMENT_LIMIT), texts)
            ]
        return order

    def _places(self, query: str, texts: Sequence[str]) -> Sequence[int]:
        """Return the places of texts, best first."""
        if isinstance(self._ranker, WordOverlap):
            scores = self._ranker.scores([(query, text) for text in texts])
            return sorted(range(len(texts)), key=lambda place: -scores[place])
        if len(texts) < 2:
            return range(len(texts))
        shown = (
            f"[{n}] {shortened_document(one_line(text), _TOOL_LIMIT)}"
            for n, text in enumerate(texts, 1)
        )
        said = self._ranker.answer("\n".join(["Request:", query, "", "Tools:", *shown]))
        named = (int(number) - 1 for number in _NUMBER.findall(said))
        known = (place for place in named if 0 <= place < len(texts))
        return list(dict.fromkeys([*known, *range(len(texts))]))


# -- What a language model, or a rule, makes of queries and tools before they are compared.

_PHRASES = 8
"""Lines of a model's answer that count."""
_PROFILE_LIMIT = 1200
"""Characters of a profile that count; so many less does the description have."""
_VALUES = 12
"""Allowed values of a parameter that the rule names."""


def rewrite(pool: Pool) -> Retriever:
    """Return a retriever that is asked each query and the search phrases that a model makes of it.

    A tool's score is the highest that any of them gives. Source: Ma et al. (2023), Query Rewriting
    for Retrieval-Augmented Large Language Models.

    Args:
        pool: Options: `of`, the retriever (default the general one), and `model`, a language model
            as `seal run --model` takes it. None: the clauses of the query, the floor.

    Raises:
        UsageError: There is no such model.
    """
    model = asked(pool, "rewrite")

    def parts(texts: Sequence[str]) -> Sequence[Sequence[str]]:
        if model is None:
            return [clauses(text) for text in texts]
        return at_once(lambda text: _phrases(model, text), texts)

    way = "rewrite(clauses)" if model is None else f"rewrite({model.identity})"
    return SentenceWise(inner_retriever(pool), way, parts)


rewrite.OPTIONS = frozenset({"of", "model"})  # type: ignore[attr-defined]
rewrite.asks_chat_model = True  # type: ignore[attr-defined]


def _phrases(model: PromptedModel, text: str) -> Sequence[str]:
    if not text.strip():
        return []
    return plan_steps(model.answer(shortened_document(text, DOCUMENT_LIMIT)))[:_PHRASES]


def expand(pool: Pool) -> Retriever:
    """Return a retriever over tools whose descriptions a model has expanded by a profile.

    The profile says when to use the tool, what users ask who need it, and what it takes. Source:
    Lu et al. (2025), Tools are under-documented (Tool-DE).

    Args:
        pool: Options: `of`, the retriever (default the general one), and `model`, a language model
            as `seal run --model` takes it, which is asked once for each tool. None: the floor, a
            profile by rule of names, parameters and allowed values.

    Raises:
        ModelError: The model failed.
        UsageError: There is no such model.
    """
    model = asked(pool, "expand")
    if model is None:
        profiles: Sequence[str] = [" ".join(_by_rule(tool)) for tool in pool.tools]
    else:
        profiles = at_once(lambda tool: model.answer(full(tool)), pool.tools)
    tools = tuple(map(_expanded, pool.tools, profiles))
    retriever = inner_retriever(replace(pool, tools=tools))
    return Wrapper(retriever, "expand(rule)" if model is None else f"expand({model.identity})")


expand.OPTIONS = frozenset({"of", "model"})  # type: ignore[attr-defined]
expand.asks_chat_model = True  # type: ignore[attr-defined]


def _expanded(tool: Tool, profile: str) -> Tool:
    profile = shortened_document(" ".join(profile.split()), _PROFILE_LIMIT)
    told = shortened_document(tool.description, DESCRIPTION_LIMIT - _PROFILE_LIMIT)
    return replace(tool, description=f"{told} {profile}".strip())


def _by_rule(tool: Tool) -> Iterator[str]:
    """Yield what a tool's record says besides its description, in words."""
    does = split_identifiers(names(tool).api).lower()
    found = properties_of(tool)
    takes = [split_identifiers(name).lower() for name in found]
    yield f"When to use: to {does}, {tool.category}." if tool.category else f"To {does}."
    if takes:
        yield f"Requests: {does} by {', '.join(takes)}."
    for name, schema in zip(takes, found.values(), strict=True):
        yield f"{name}: {' '.join(_words_of(schema))}."


def _words_of(schema: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(schema.get("description"), str):
        yield schema["description"]
    values = schema.get("enum")
    if isinstance(values, Sequence) and not isinstance(values, str):
        yield from (split_identifiers(str(value)) for value in values[:_VALUES])


# -- How retrievers ask language models.
#
# A model comes with the pool (`Pool.models`), which keeps its answers, or as an object.

_AT_ONCE = 8
"""Requests that wait for a server at the same time."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class PromptedModel:
    """A language model with one task, which a prompt describes. Safe in threads as the model is.

    Args:
        model: The model.
        name: Of the prompt, `prompts/NAME.txt`.
    """

    def __init__(self, model: ChatModel, name: str) -> None:
        self._model = model
        self._name = name
        self.identity = str(getattr(model, "identity", "") or type(model).__name__)

    def answer(self, text: str) -> str:
        """Return what the model says to a text.

        Raises:
            ModelError: The model failed.
        """
        messages = (
            Message("system", shipped_prompt(__package__, self._name)),
            Message("user", text),
        )
        return self._model.complete(Request(messages, role="retriever")).content


def asked(pool: Pool, name: str) -> PromptedModel | None:
    """Return the model of the option `model` with the task of a prompt; None: none is named.

    Raises:
        OptionError: It is named, and whoever built the pool opens no models.
        UsageError: There is no such model.
    """
    what = pool.options.get("model")
    if what is None:
        return None
    if pool.models is not None:
        return PromptedModel(pool.models(what), name)
    if not hasattr(what, "complete"):
        raise OptionError(
            f"model={shortened(what)}: this pool opens no models by name; give an object with "
            "complete(request), or build the retriever by seal.retrieve or seal.run"
        )
    return PromptedModel(what, name)


def at_once(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Sequence[_Result]:
    """Return what a function gives of each item, in their order, several at once.

    The first failure is raised when all that began has ended; what was answered until then is kept.
    """
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        waiting = [threads.submit(copy_context().run, function, item) for item in items]
        try:
            return [one.result() for one in waiting]
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


# -- Hierarchical retrieval: first the group, such as a category or an MCP server, then the tool.

BY: Mapping[str, Callable[[Tool], str]] = {
    "category": lambda tool: tool.category,
    "server": lambda tool: names(tool).tool,
}
"""What tools are grouped by: their category, or the service, class or MCP server that has them."""


class Hierarchy:
    """Retrieves the tools of the groups that suit a query best, then the others.

    A group's document is its name and the names and descriptions of its tools, each cut so that all
    have a place. A tool of no group is one of its own. Within the first groups, and behind them,
    tools stand as the retriever ranks them; scores count down and hold the order alone. Source: Du
    et al. (2024), AnyTool, section 3.1 (category, tool, API); Fei et al. (2025), MCP-Zero (server,
    then tool).

    Args:
        pool: Options: `of`, the retriever of groups and of tools (default the general one); `by`,
            server (the default) or category; `groups`, how many come first (default 5).

    Raises:
        DataError: No tool has a group.
        OptionError: An option is out of range.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"of", "by", "groups"})
    reads_text: ClassVar[bool] = False
    measures: ClassVar[bool] = False

    def __init__(self, pool: Pool) -> None:
        by = pool.options.get("by") or "server"
        if by not in BY:
            raise OptionError(f"by={by}: expected one of {', '.join(sorted(BY))}")
        self._count = whole_option(pool.options, "groups", 5, 1)
        members: dict[str, list[Tool]] = {}
        for tool in pool.tools:
            members.setdefault(BY[by](tool) or tool.id, []).append(tool)
        if not any(map(BY[by], pool.tools)):
            raise DataError(
                f"no tool of the pool has a {by}; take --retriever hybrid, or another by"
            )
        self._group = {tool.id: group for group, tools in members.items() for tool in tools}
        self._tools = inner_retriever(pool)
        groups = tuple(_document(group, tools) for group, tools in members.items())
        self._groups = inner_retriever(replace(pool, tools=groups))
        self.identity = f"{label_of(self._tools)}/{by}@{self._count}"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools that stand first.

        Raises:
            UsageError: k is less than 1.
            ModelError: A model or its server failed.
        """
        check_k(k)
        groups = self._groups.retrieve(queries, self._count)
        tools = self._tools.retrieve(queries, len(self._group))
        return [self._ranked(*pair)[:k] for pair in zip(groups, tools, strict=True)]

    def _ranked(self, groups: Hits, tools: Hits) -> Hits:
        best = by_score(matching(self._groups, groups))
        first = {group for group, _ in best[: self._count]}
        ranked = [tool for tool, _ in by_score(matching(self._tools, tools))]
        ranked.sort(key=lambda tool: self._group[tool] not in first)  # stable
        return by_place(ranked, len(self._group))


def _document(group: str, tools: Sequence[Tool]) -> Tool:
    """Return a group as a tool, whose description tells of its members."""
    share = max(20, DESCRIPTION_LIMIT // len(tools))
    told = (f"{names(tool).api}: {tool.description}"[:share] for tool in tools)
    return Tool(group, group, " ".join(told), source={"tool": group, "api": group})
