"""Python literals in texts of models and of upstream files, read and never evaluated.

CPython before 3.11.9 and 3.12.2 keeps the depth of the tree that `ast` builds in one place for all
threads and raises SystemError where two build one at once (python/cpython 106905), so that trees
are built one at a time here, and nowhere else.
"""

from __future__ import annotations

import ast
import threading
import warnings
from typing import Any

_ONE_AT_A_TIME = threading.Lock()


def parse_expression(text: str) -> ast.expr:
    """Return the tree of one Python expression.

    Raises:
        ValueError: The text is none, or nested too deeply.
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes such as "\\d", which are the text's own
        try:
            return ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise ValueError(f"no Python expression: {error}") from error


def literal_value(written: str | ast.expr) -> Any:
    """Return the value that a Python literal writes.

    Args:
        written: A text, or a part of a tree.

    Raises:
        ValueError: It is no literal, or nested too deeply.
    """
    tree = parse_expression(written) if isinstance(written, str) else written
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"no Python literal: {error}") from error
