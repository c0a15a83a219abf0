"""The engine's peers: what they are asked is drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product

from peers.comparison import Peer, PeerFigure
from seal.core import Ranking
from seal.evaluation.ranking_metrics import Graded, metric_names
from seal.evaluation.rankings import measure_rankings
from seal.evaluation.significance import mcnemar, pass_hat

_DRAWN = 2_000
_KS = (1, 3, 5, 10)
_WORDS = (
    *("the", "weather", "in", "Berlin's", "cities", "is", "being", "cancelled", "bookings", "7"),
    *("relational", "happily", "flies", "U.S.", "don't", "12:30", "meetings", "agreed", "Straße"),
)


def _rankings() -> Iterator[PeerFigure]:
    import pytrec_eval

    draw = random.Random(0)
    asked = {f"recall.{','.join(map(str, _KS))}", f"ndcg_cut.{','.join(map(str, _KS))}"}
    for number in range(_DRAWN):
        tools = [f"tool{place}" for place in range(30)]
        relevant = {tool: draw.randint(1, 3) for tool in draw.sample(tools, draw.randint(1, 5))}
        ranked = draw.sample(tools, draw.randint(1, 20))
        hits = tuple((tool, -float(rank)) for rank, tool in enumerate(ranked))
        ranking = Ranking("t", 0, "q", hits)
        (row,) = measure_rankings([ranking], {("t", 0): Graded(relevant)}, _KS).values()
        ours = dict(zip(metric_names(_KS), row, strict=True))
        judge = pytrec_eval.RelevanceEvaluator({"q": relevant}, {*asked, "recip_rank"})
        theirs = judge.evaluate({"q": dict(hits)})["q"]
        for k in _KS:
            for name, peers in (("recall", "recall"), ("ndcg", "ndcg_cut")):
                figure = f"{name}@{k}"
                yield PeerFigure(figure, f"ranking {number}", ours[figure], theirs[f"{peers}_{k}"])
        whole = measure_rankings([ranking], {("t", 0): Graded(relevant)}, [30])
        mrr = dict(zip(metric_names([30]), whole["t", 0], strict=True))["mrr@30"]
        yield PeerFigure("mrr", f"ranking {number}", mrr, theirs["recip_rank"])


def _texts() -> Iterator[PeerFigure]:
    from rouge_score.rouge_scorer import RougeScorer

    from seal.core.rouge import rouge_l

    draw, scorer = random.Random(0), RougeScorer(["rougeL"], use_stemmer=True)
    for _ in range(_DRAWN):
        target, text = (" ".join(draw.choices(_WORDS, k=draw.randint(0, 12))) for _ in range(2))
        theirs = scorer.score(target, text)["rougeL"].fmeasure
        yield PeerFigure("ROUGE-L", f"{target!r}, {text!r}", rouge_l(target, text), theirs)


def _pass_hats(theirs: Callable[[int, int, int], float]) -> Iterator[PeerFigure]:
    """Hold pass^k against a function of trials, successes and k."""
    import numpy as np

    for n, k in product(range(1, 9), range(1, 9)):
        solved, trials = np.arange(n + 1), np.full(n + 1, n)
        for count, ours in enumerate(pass_hat(solved, trials, k) if k <= n else ()):
            yield PeerFigure("pass^k", f"{count} of {n}, k={k}", float(ours), theirs(n, count, k))


def _trials() -> Iterator[PeerFigure]:
    from tau2.metrics.agent_metrics import pass_hat_k

    yield from _pass_hats(pass_hat_k)


def _statistics() -> Iterator[PeerFigure]:
    from scipy import stats

    for won in range(25):
        for lost in range(25):
            if won + lost:
                exact = stats.binomtest(won, won + lost).pvalue
                ours = mcnemar(won, lost)["exact"]
                yield PeerFigure(
                    "McNemar, exact p", f"{won} won, {lost} lost", ours, round(exact, 6)
                )
    yield from _pass_hats(lambda n, count, k: float(stats.hypergeom.pmf(k, n, count, k)))


TREC_EVAL = Peer("trec_eval, by pytrec_eval", _rankings, "pytrec_eval-terrier")
ROUGE = Peer("rouge_score, Google's", _texts, "rouge-score")
SCIPY = Peer("scipy.stats", _statistics, "scipy")
TAU2 = Peer(
    "tau2-bench, its pass_hat_k",
    _trials,
    "git+https://github.com/sierra-research/tau2-bench, for it is not published as a package: tau2 "
    "on PyPI is another project; scipy's peer holds the published formula",
)
