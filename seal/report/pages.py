"""Templates: everything that comes from data is escaped, everything that is sent stands inline."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from seal.report.grids import number
from seal.report.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> Markup:
    """Return a template of `templates/` filled in; values that are no Markup are escaped."""
    return Markup(_environment().get_template(template).render(values))


def stream(template: str, **values: Any) -> Iterator[str]:
    """Yield a filled template in pieces, so that iterators in `values` are never held whole."""
    return _environment().get_template(template).generate(values)


def asset(name: str) -> Markup:
    """Return the text of a style sheet or script of `templates/`."""
    return Markup(files("seal.report").joinpath("templates", name).read_text("utf-8"))


def content_hash(text: str) -> str:
    """Return the source expression by which a content security policy allows an inline text."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("seal.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.finalize = _printable
    return environment


def _printable(value: Any) -> Any:
    return printable(value) if type(value) is str else value
