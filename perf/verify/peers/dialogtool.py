"""BLEU of a corpus beside sacrebleu's own, on replies drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from peers.comparison import Peer, PeerFigure
from seal.benchmarks.dialogtool.role_scores import bleu_counts, corpus_bleu, marks

_DRAWN = 500
_WORDS = (
    *("the", "table", "for", "two", "at", "7:30", "p.m.", "is", "booked", ".", ",", "don't"),
    *("$12.50", "O'Hara's", "well-known", "U.S.", "50%", "&amp;", "(downtown)", "Straße", "?"),
)


def _corpora() -> Iterator[PeerFigure]:
    from sacrebleu.metrics.bleu import BLEU

    draw = random.Random(0)
    for number in range(_DRAWN):
        pairs = [
            [" ".join(draw.choices(_WORDS, k=draw.randint(1, 12))) for _ in range(2)]
            for _ in range(draw.randint(1, 8))
        ]
        ours = corpus_bleu(bleu_counts(marks(wanted), marks(said)) for wanted, said in pairs)
        said, wanted = [said for _, said in pairs], [wanted for wanted, _ in pairs]
        theirs = BLEU(lowercase=True).corpus_score(said, [wanted]).score
        yield PeerFigure("BLEU of a corpus", f"corpus {number}", ours, float(theirs))


SACREBLEU = Peer("sacrebleu", _corpora, "sacrebleu")
