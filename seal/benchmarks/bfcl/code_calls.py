"""Calls that BFCL's models write as code: `Port.tide(name="Oban", day=new int[]{1, 2})`.

Arguments have names, which is no Java and hardly JavaScript, but both grammars take it for an
assignment. A value is kept as its code, without the quotes of a text:
`seal.benchmarks.bfcl.leaderboard` reads it by its declared type. Of Java and JavaScript this knows
the expressions that models write as values; a text that either grammar refuses is no call.

A text is read once from left to right.

Source: what the parsers of bfcl-eval 2026.3.23 make of a call; none of its code is here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


class CodeError(ValueError):
    """A text that is no code of its language."""


@dataclass(frozen=True, slots=True)
class CodeCall:
    """A call with named arguments."""

    name: str
    arguments: dict[str, str]
    """Name to code. What has no name is left out, but for one name of a variable, under `""`."""


def read_call(text: str, language: str) -> CodeCall | None:
    """Return the first call of a text of code; None: it is code that calls nothing.

    Args:
        text: Such as `f(a=1)`; a semicolon may follow.
        language: "java" or "javascript".

    Raises:
        CodeError: It is no code, or gives two arguments of one name.
        RecursionError: It is nested too deeply.
    """
    return _Code(text, language).call()


# Takes ` `, `// all of a line` and `/* over lines */`; not `/* that is never closed`.
_BLANK = re.compile(r"\s+|//[^\n]*|/\*(?s:.*?)\*/")
# Takes `"a \" b"`, `1.5f`, `$name` and `=>`; not `"never closed`, nor `#`.
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')
    |(?P<template>`(?:[^`\\]|\\.)*+`)
    |(?P<number>0[xXbBoO]\w++|\d[\d_]*+(?:\.\d*+)?(?:[eE][+-]?\d++)?[lLfFdDn]?)
    |(?P<name>[^\W\d][\w$]*+|\$[\w$]*+)
    |(?P<sign>=>|->|\.\.\.|\+\+|--|&&|\|\||::|[=!]==?|[<>]=|[-+*/%&|^<>=?:.,;!~()\[\]{}@])
    """,
    re.VERBOSE | re.DOTALL,
)
_BOTH = (
    *("break", "case", "catch", "class", "const", "continue", "default", "do", "else"),
    *("extends", "finally", "for", "if", "import", "instanceof", "return", "switch"),
    *("throw", "try", "void", "while"),
)
_JAVA = (
    *("abstract", "assert", "enum", "final", "goto", "implements", "interface"),
    *("native", "package", "private", "protected", "public", "static", "strictfp"),
    *("synchronized", "throws", "transient", "volatile"),
)
_JAVASCRIPT = (*("debugger", "delete", "export", "in", "typeof", "var", "with"),)
_WORDS: Mapping[str, frozenset[str]] = {
    "java": frozenset(_BOTH + _JAVA),
    "javascript": frozenset(_BOTH + _JAVASCRIPT),
}
"""Words that name nothing."""
_BINARY = (
    *("+", "-", "*", "/", "%", "&", "|", "^", "&&", "||", "="),
    *("<", ">", "<=", ">=", "==", "!=", "===", "!==", "instanceof", "in"),
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


class _Code:
    """A text of code that is read from left to right.

    Args:
        text: The code.
        language: "java" or "javascript".
    """

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.java = language == "java"
        self.words = _WORDS[language]
        self.tokens: list[_Token] = []
        self.place = 0

    def token(self, place: int) -> _Token:
        """Return a token by its place; behind the last one the end of the text.

        Raises:
            CodeError: The text has a sign that begins no token.
        """
        while len(self.tokens) <= place:
            at = self.tokens[-1].end if self.tokens else 0
            self.tokens.append(self._lexed(at))
        return self.tokens[place]

    def _lexed(self, at: int) -> _Token:
        """Return the token that begins here, or after blanks."""
        start = at
        while blank := _BLANK.match(self.text, start):
            start = blank.end()
        if start == len(self.text):
            return _Token("end", "", start, start)
        one = _TOKEN.match(self.text, start)
        if one is None or (self.java and (one.lastgroup == "template" or one[0] == "''")):
            raise CodeError(f"{self.text[start]!r} at {start} begins nothing")
        return _Token(str(one.lastgroup), one[0], start, one.end())

    # -- Signs

    @property
    def next(self) -> _Token:
        """The token that is to be read."""
        return self.token(self.place)

    def take(self) -> _Token:
        """Return the next token, and go on."""
        token = self.next
        self.place += 1
        return token

    def takes(self, *signs: str) -> bool:
        """Go on past one of these signs or words, if it comes; tell whether it did."""
        found = self.next.kind in ("sign", "name") and self.next.text in signs
        self.place += found
        return found

    def need(self, sign: str) -> None:
        """Go on past a sign.

        Raises:
            CodeError: Another token comes.
        """
        if not self.takes(sign):
            raise CodeError(f"expected {sign!r} at {self.next.start}, got {self.next.text!r}")

    def since(self, start: int) -> str:
        """Return the code from a place to the last token that was read."""
        return self.text[start : self.tokens[self.place - 1].end]

    # -- Calls

    def call(self) -> CodeCall | None:
        """Return the first call of the text; None: there is none."""
        start = self.next.start
        if self.next.kind == "end":
            return None
        self.name()
        while self.takes("."):
            self.name()
        name = self.since(start)
        found = CodeCall(name, self.named()) if self.next.text == "(" else None
        if not self.takes(";") and self.next.kind != "end":
            raise CodeError(f"{self.next.text!r} at {self.next.start} follows the call")
        if found is not None and not self.java:
            return found
        if self.next.kind != "end":
            raise CodeError(f"{self.next.text!r} at {self.next.start} follows the call")
        return found

    def name(self) -> str:
        """Return the name that comes."""
        if self.next.kind != "name" or self.next.text in self.words:
            raise CodeError(f"expected a name at {self.next.start}, got {self.next.text!r}")
        return self.take().text

    def named(self) -> dict[str, str]:
        """Return the arguments between brackets."""
        given: dict[str, str] = {}
        self.need("(")
        while not self.takes(")"):
            name, code = self.argument()
            if name is not None:
                if name in given:
                    raise CodeError(f"{name!r} is given twice")
                given[name] = code
            if not self.takes(","):
                self.need(")")
                break
        return given

    def argument(self) -> tuple[str | None, str]:
        """Return name and code of an argument; None: it has no name, and is no variable."""
        first, after = self.next, self.token(self.place + 1)
        if first.kind == "name" and after.text == "=":
            self.name()
            self.need("=")
            return first.text, self.value()
        self.expression()
        alone = self.tokens[self.place - 1] is first and first.kind == "name"
        return ("" if alone else None), first.text

    def value(self) -> str:
        """Return the code of a value, without the quotes of a text."""
        first = self.next
        self.expression()
        code = self.since(first.start)
        if not self.java:
            quoted = len(code) > 1 and code[0] in "'\"" and code[-1] == code[0]
            return code[1:-1] if quoted else code
        if self.tokens[self.place - 1] is first:
            return code[1:-1] if first.kind == "text" else code
        return _without_body(code) if first.text == "new" else code

    # -- Expressions

    def expression(self) -> None:
        """Read a value."""
        self.operand()
        while self.takes(*_BINARY):
            self.operand()
        if self.takes("?"):
            self.expression()
            self.need(":")
            self.expression()
        elif self.takes("=>", "->"):
            self.body()

    def body(self) -> None:
        """Read what stands behind an arrow."""
        if self.next.text == "{":
            self.block()
        else:
            self.expression()

    def operand(self) -> None:
        """Read a value without signs between parts."""
        while self.takes("-", "+", "!", "~", "++", "--", "typeof", "await"):
            pass
        token = self.take()
        if token.text == "(":
            self.listed(")")
        elif token.text == "new":
            self.made()
        elif token.text == "function" and not self.java:
            self.function()
        elif token.text == "[" and not self.java:
            self.listed("]")
        elif token.text == "{" and not self.java:
            self.members()
        elif token.kind not in ("text", "template", "number", "name") or token.text in self.words:
            raise CodeError(f"{token.text!r} at {token.start} is no value")
        self.parts()

    def parts(self) -> None:
        """Read what follows a value: members, calls and places in lists."""
        while True:
            if self.takes("."):
                if self.java and self.takes("class"):
                    continue
                if self.take().kind != "name":
                    raise CodeError(f"expected a name at {self.next.start}")
            elif self.java and self.takes("::"):
                self.take()
            elif self.takes("("):
                self.listed(")")
            elif self.takes("["):
                self.expression()
                self.need("]")
            elif not self.takes("++", "--"):
                return

    def listed(self, closing: str) -> None:
        """Read values between commas up to a bracket."""
        while not self.takes(closing):
            self.takes("...")
            if self.next.text != ",":
                self.expression()
            if not self.takes(","):
                self.need(closing)
                return

    def members(self) -> None:
        """Read the members of an object of JavaScript, after its bracket."""
        while not self.takes("}"):
            if self.takes("..."):
                self.expression()
            else:
                self.member()
            if not self.takes(","):
                self.need("}")
                return

    def member(self) -> None:
        """Read one member."""
        token = self.take()
        if token.text == "[":
            self.expression()
            self.need("]")
        elif token.kind not in ("text", "number", "name"):
            raise CodeError(f"{token.text!r} at {token.start} names no member")
        if self.next.text == "(":
            self.block()
            self.block()
        elif self.takes(":"):
            self.expression()
        elif token.kind != "name":
            raise CodeError(f"{token.text!r} at {token.start} has no value")

    def function(self) -> None:
        """Read a function of JavaScript, after its word."""
        self.takes("*")
        if self.next.kind == "name":
            self.take()
        self.block()
        self.block()

    def made(self) -> None:
        """Read what follows `new`."""
        self.name()
        while self.takes("."):
            self.name()
        if self.java and self.next.text == "<":
            self.types()
        if self.takes("("):
            self.listed(")")
            if self.java and self.next.text == "{":
                self.block()
        elif self.java and self.next.text == "[":
            while self.next.text == "[":
                self.block()
            if self.next.text == "{":
                self.items()
        elif self.java:
            raise CodeError(f"expected a bracket at {self.next.start}")

    def types(self) -> None:
        """Read the types between angles."""
        depth = 0
        while True:
            token = self.take()
            depth += {"<": 1, ">": -1}.get(token.text, 0)
            if not depth:
                return
            if token.kind != "name" and token.text not in ("<", ">", ",", ".", "?", "[", "]"):
                raise CodeError(f"{token.text!r} at {token.start} is no type")

    def items(self) -> None:
        """Read the items of an array of Java, which may be arrays."""
        self.need("{")
        while not self.takes("}"):
            if self.next.text == "{":
                self.items()
            else:
                self.expression()
            if not self.takes(","):
                self.need("}")
                return

    def block(self) -> None:
        """Read what stands in brackets, whatever it is, with brackets that match."""
        open_: list[str] = []
        while True:
            token = self.take()
            if token.kind == "sign" and token.text in _CLOSING:
                open_.append(_CLOSING[token.text])
            elif token.kind == "end" or not open_:
                raise CodeError(f"expected a bracket at {token.start}")
            elif token.kind == "sign" and token.text in _CLOSING.values():
                self.closes(token, open_.pop())
            if not open_:
                return

    def closes(self, token: _Token, bracket: str) -> None:
        """Refuse a token that is another bracket than the one that is open."""
        if token.text != bracket:
            raise CodeError(f"{token.text!r} at {token.start} closes another bracket")


_BODY = re.compile(r"\)\s*\{")


def _without_body(code: str) -> str:
    """Return what is made without the body of a class of its own, which the leaderboard drops."""
    found = _BODY.search(code) if code.endswith("}") else None
    return code[: found.start() + 1] if found else code
