"""How near a reply's words are to the gold reply's: BLEU and ROUGE-L."""

from __future__ import annotations

from seal.benchmarks.dialogtool.metrics.dialogue.awareness import NOT_SEATED
from seal.benchmarks.dialogtool.metrics.dialogue.bleu import Counts, sentence_bleu
from seal.benchmarks.dialogtool.metrics.dialogue.tokens import marks, words
from seal.benchmarks.dialogtool.metrics.dialogue.turns import Turn
from seal.benchmarks.dialogtool.tool_life import RESPONDER
from seal.core.conditions.rouge import rouge_l
from seal.evaluation.goals import Value, undefined

NAMES = ("bleu", "rouge_l")


def replies(turn: Turn) -> dict[str, Value]:
    """Return the value of each of `NAMES`, at least 0, ROUGE-L at most 1; silence is 0.

    The details of `bleu` hold the counts of 13a's tokens, of which the corpus's BLEU is made:
    n-grams in both, for n = 1 to 4, then the tokens said and wanted.
    """
    if RESPONDER not in turn.seated:
        return dict.fromkeys(NAMES, undefined(f"{NOT_SEATED}: {RESPONDER}"))
    if not turn.reply:
        return dict.fromkeys(NAMES, undefined("gold has no reply"))
    said = turn.said(RESPONDER) or ""
    bleu = sentence_bleu(words(turn.reply), words(said))
    counts = Counts.of(marks(turn.reply), marks(said))
    told = {"counts": [*counts.matched, counts.said, counts.wanted]}
    return {"bleu": Value(bleu, details=told), "rouge_l": Value(rouge_l(turn.reply, said))}
