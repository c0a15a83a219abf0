"""How a request for one act or several is put in words."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from seal.benchmarks.mmtb.generation.grammar.acts import Act
from seal.benchmarks.mmtb.generation.grammar.wording import (
    capital,
    filled,
    joined,
    placeholders,
    tidy,
)

_DO_FRAMES = (
    "Can you {}?",
    "Could you {}, please?",
    "Please {}.",
    "I'd like you to {}.",
    "I need you to {}.",
    "Would you {} for me?",
    "Quick one: {}, please.",
    "Be so kind and {}.",
)
_IT_FRAMES = ("And {}?", "What about {}?", "Now {}, please.", "And {}, please?")
_BOTH_DO = (
    "Can you {} and {}?",
    "Please {}. Also, {}.",
    "Two things, please: {}, and {}.",
    "Could you {}, and while you're at it {}?",
    "I'd like you to {} and to {}.",
)
_THEN_DO = (
    "Can you {} and then {}?",
    "First {}. After that, {}.",
    "Please {}, then {}.",
    "I need you to {} and, once you have that, {}.",
)
_BOTH_IT = ("And {}, plus {}?", "What about {} and {}?", "Now {} and {}, please.")
_NEXT_IT = ("And {}, then {}?", "Now {}, and with that {}, please.")


def worded(
    rng: random.Random,
    spoken: Sequence[tuple[Act, Mapping[str, str]]],
    bond: str,
    elliptic: bool,
    bare: bool = False,
) -> str:
    """Return a request for acts.

    Args:
        rng: Draws the frame and the words.
        spoken: Acts with the phrases of their slots, in the order in which they are spoken of.
        bond: `both`, `then`, or nothing, of one act alone.
        elliptic: Verbs are left out.
        bare: Of one act: what it is to do, not what is to be known.
    """
    if len(spoken) == 1:
        act, phrases = spoken[0]
        return _one(rng, act, phrases, elliptic, bare)
    clauses = [
        filled(rng.choice(act.it if elliptic else act.do), phrases) for act, phrases in spoken
    ]
    if bond == "then":
        *firsts, last = clauses
        if len(firsts) == 2 and len({act.tool for act, _ in spoken}) == 3:
            firsts = [joined(firsts)]
        frame = rng.choice(_NEXT_IT if elliptic else _THEN_DO)
        return _sentence(frame.format(", ".join(firsts), last))
    if len(clauses) == 3:
        frame = rng.choice(_IT_FRAMES if elliptic else _DO_FRAMES)
        return _sentence(frame.format(joined(clauses)))
    return _sentence(rng.choice(_BOTH_IT if elliptic else _BOTH_DO).format(*clauses))


def _one(
    rng: random.Random, act: Act, phrases: Mapping[str, str], elliptic: bool, bare: bool
) -> str:
    asks = [] if bare else [ask for ask in act.asks if _speaks_of(ask, phrases)]
    if elliptic:
        return _sentence(rng.choice(_IT_FRAMES).format(filled(rng.choice(act.it), phrases)))
    if asks and rng.random() < 0.6:
        return _sentence(filled(rng.choice(asks), phrases))
    do = filled(rng.choice(act.do), phrases)
    return _sentence(rng.choice(_DO_FRAMES).format(do))


def _speaks_of(template: str, phrases: Mapping[str, str]) -> bool:
    """Tell whether a template has a place for every phrase."""
    names = placeholders(template)
    return all(name in names for name, phrase in phrases.items() if phrase)


def _sentence(text: str) -> str:
    return capital(tidy(text))
