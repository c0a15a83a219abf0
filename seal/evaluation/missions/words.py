"""The words of a text in any language, as jieba cuts them."""

from __future__ import annotations

import logging
import warnings
from functools import cache, lru_cache
from typing import Any

from seal.core.errors import MissingExtraError


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words, punctuation marks and blanks of a text in order, none left out.

    Raises:
        MissingExtraError: jieba is not installed.
    """
    return tuple(_cutter().cut(text))


@cache
def _cutter() -> Any:
    try:
        with warnings.catch_warnings():  # older setuptools, which it looks for, warn of themselves
            warnings.simplefilter("ignore")
            import jieba
    except ModuleNotFoundError as error:
        raise MissingExtraError("jieba", "missions") from error
    jieba.setLogLevel(logging.WARNING)  # else it tells on stderr that it reads its words
    return jieba.Tokenizer()
