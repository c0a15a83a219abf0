"""Files in YAML, read as version 1.2 has it, whose core is JSON: what OpenAPI asks for.

PyYAML reads version 1.1, where `no`, `on` and `yes` are truth values, `010` is eight, `1:30` is
ninety, and a day is a date: a list of countries would lose Norway.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from seal.core import DataError, UsageError, shortened
from seal.core.files import content_of
from seal.core.values import number_fault
from seal.pools.reading.files import utf8_text

_MOST_LAID_OUT = 1 << 24
"""Characters of a document in which each alias stands for what it names."""
_WEIGHT = 16
"""Characters that a value counts beside its own; a document without an alias has fewer in all."""
_CORE = {
    "null": (re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    "bool": (re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")),
    "int": (re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"), list("-+0123456789")),
    "float": (
        re.compile(
            r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
        list("-+.0123456789"),
    ),
    "merge": (re.compile(r"<<"), ["<"]),
}
"""Tag to the words that mean it without being marked (YAML 1.2, section 10.3), and their begins."""


def yaml_document(path: Path) -> Any:
    """Return the one document of a file.

    Raises:
        DataError: It is no YAML, names a key twice in a map, is nested too deep, or its aliases lay
            out too much.
        UsageError: PyYAML is not installed.
    """
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise UsageError(f"{path}: install PyYAML, or save the document as JSON") from error
    loader = None
    try:
        text = utf8_text(content_of(path), str(path))
        loader = _loader_class()(text)
        node = loader.get_single_node()
        most = max(_MOST_LAID_OUT, _WEIGHT * len(text))
        if _laid_out(node, {}, most) > most:
            raise DataError(
                f"{path}: its aliases lay out more than {most:,} characters, or stand "
                "within what they name; write what they name in its place, or save it as JSON"
            )
        return None if node is None else loader.construct_document(node)
    except RecursionError as error:
        raise DataError(f"{path}: it is nested too deep; save it as JSON") from error
    except yaml.YAMLError as error:
        raise DataError(f"{path}: no YAML: {error}") from error
    except ValueError as error:  # of a number or a date that Python has not
        raise DataError(f"{path}: no YAML: {number_fault(error)}; write it in quotes") from error
    finally:
        if loader is not None:
            loader.dispose()


@cache
def _loader_class() -> Any:
    """Return PyYAML's safe loader with the words of version 1.2, which tells a key named twice."""
    import yaml  # type: ignore[import-untyped, unused-ignore]

    class Loader(yaml.SafeLoader):  # type: ignore[misc, unused-ignore]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            known: set[tuple[str, str]] = set()
            for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if (key.tag, key.value) in known:
                    told = f"the key {shortened(key.value)} stands twice in a map; keep one of them"
                    raise yaml.constructor.ConstructorError(None, None, told, key.start_mark)
                known.add((key.tag, key.value))
            return super().construct_mapping(node, deep)

    Loader.yaml_implicit_resolvers = {}
    for tag, (words, begins) in _CORE.items():
        whole = re.compile(f"(?:{words.pattern})$")
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", whole, begins)
    Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
    return Loader


def _whole_number(loader: Any, node: Any) -> int:
    text = loader.construct_scalar(node)
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _laid_out(node: Any, known: dict[int, int], most: int) -> int:
    """Return how many characters a part of a document is, aliases laid out; at most one too many.

    Args:
        node: As PyYAML composes it: of an alias, the same node as what it names.
        known: Of nodes that were counted; one that is being counted holds itself.
        most: Where the count may end.
    """
    if node is None:
        return 0
    if id(node) not in known:
        known[id(node)] = most + 1
        if isinstance(node.value, str):
            total = len(node.value)
        else:
            pairs = chain.from_iterable(n if isinstance(n, tuple) else (n,) for n in node.value)
            total = sum(_laid_out(inner, known, most) for inner in pairs)
        known[id(node)] = min(total + _WEIGHT, most + 1)
    return known[id(node)]
