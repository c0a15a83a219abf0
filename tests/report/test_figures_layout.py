"""Nothing of a figure is cut or covered, and series are told apart, however many there are."""

from collections.abc import Iterator
from itertools import chain, combinations, pairwise
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from seal.report.experiments import sweep_figures
from seal.report.figures import STYLE, interval_figure, line_look
from seal.report.pages import Bar, BarGroup
from seal.report.retrieval import retrieval_figures

KS = (1, 5, 10)
LONG = "dense,model=somebody/some-embedder-{},template=package.of.templates:name_and_description"


def entry(pool: str, retriever: str, tools: int) -> dict[str, Any]:
    metrics = {
        f"recall@{k}": {"mean": k / 12, "low": k / 15, "high": k / 10, "deviation": 0.05}
        for k in KS
    }
    place = {"pool": pool, "retriever": retriever, "size": tools, "tools": tools}
    return {**place, "metrics": metrics}


def experiment(retrievers: int, pools: int = 1) -> dict[str, Any]:
    """Results of retrievers of which every second has a long name, over pools of two sizes."""
    names = [LONG.format(n) if n % 2 else f"bm25,b=0.{n}" for n in range(retrievers)]
    found = [
        entry(f"pool-of-some-benchmark-{pool}", name, tools)
        for pool in range(pools)
        for name in names
        for tools in (50, 1000)
    ]
    return {"protocol": {"k": KS}, "results": found}


def sweep(sizes: int, ks: tuple[int, ...] = (10,)) -> dict[str, Any]:
    names = ("recall@1", "recall@5", "recall@10", "call_recall", "call_recall_at_n")
    value = {"mean": 0.5, "deviation": 0.1}
    metrics = dict.fromkeys((*names, "param_acc_gold", "pass_rate"), value)
    found = [
        {"size": 10 * 2**size, "top_k": k, "metrics": metrics} for size in range(sizes) for k in ks
    ]
    return {"results": found}


def draw(what: dict[str, Any]) -> dict[str, Figure]:
    """Return what is drawn, by name."""
    return retrieval_figures(what) if "protocol" in what else sweep_figures(what)


def boxes(figure: Figure) -> Iterator[Any]:
    """Yield the extents of panels with their labels, of the legend and of the caption."""
    with mpl.rc_context(STYLE):
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        for artist in chain(figure.axes, figure.legends):
            yield artist.get_tightbbox(renderer)
        for text in figure.texts:
            if text.get_text():
                yield text.get_window_extent(renderer)


def assert_whole(figure: Figure) -> None:
    """Assert that all is inside of the figure, nothing covers anything, and axes are large."""
    found = list(boxes(figure))
    width, height = figure.bbox.width, figure.bbox.height
    for box in found:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height
    for one, other in combinations(found, 2):
        assert not one.overlaps(other)
    for axes in figure.axes:
        share = axes.get_position()
        assert share.width * figure.get_figwidth() >= 2.9
        assert share.height * figure.get_figheight() >= 2.2


@pytest.mark.slow
@pytest.mark.parametrize(("retrievers", "pools"), [(1, 1), (9, 1), (20, 1), (2, 4), (20, 2)])
def test_nothing_of_an_experiment_is_cut_or_covered(retrievers: int, pools: int) -> None:
    figures = draw(experiment(retrievers, pools))
    assert set(figures) == {"recall_over_pool_size", "recall_over_pools", "recall_over_k"}
    for figure in figures.values():
        assert_whole(figure)
        panel, *_ = boxes(figure)
        if pools == 1:
            assert 3 * panel.width * panel.height > figure.bbox.width * figure.bbox.height
        names = [text.get_text().replace("\n", "") for text in figure.legends[0].get_texts()]
        results = experiment(retrievers)["results"]
        assert names == list(dict.fromkeys(each["retriever"] for each in results))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [1, 9, 20])
@pytest.mark.parametrize("ks", [(10,), (1, 5, 10)])
def test_nothing_of_a_sweep_is_cut_or_covered(sizes: int, ks: tuple[int, ...]) -> None:
    figures = draw(sweep(sizes, ks))
    assert len(figures) == (sizes > 1) + (len(ks) > 1)
    for figure in figures.values():
        assert_whole(figure)


@pytest.mark.parametrize("retrievers", [1, 9, 20])
def test_marks_of_a_pool_are_told_apart_by_look_and_place(retrievers: int) -> None:
    found = experiment(retrievers)
    figures = draw({"protocol": {"k": KS[-1:]}, "results": found["results"][1::2]})
    figure = figures["recall_over_pools"]
    (axes,) = figure.axes
    marks = [bar.lines[0] for bar in axes.containers]
    looks = {(mark.get_color(), mark.get_marker()) for mark in marks}
    assert len(looks) == len(marks) == retrievers
    shown = [to_hex(key.get_color()[0]) for key in figure.legends[0].legend_handles]
    assert shown == [mark.get_color() for mark in marks]
    across = axes.get_position().width * figure.get_figwidth()
    low, high = axes.get_xlim()
    places = [mark.get_xdata()[0] for mark in marks]
    assert all((b - a) / (high - low) * across > 0.15 for a, b in pairwise(places))  # inches


def test_looks_do_not_come_back() -> None:
    lines = [
        (look["color"], look["marker"], look["linestyle"]) for look in map(line_look, range(256))
    ]
    assert len(set(lines)) == 256
    assert len({(colour, marker) for colour, marker, _ in lines[:64]}) == 64


def test_long_names_and_reasons_are_written_in_lines() -> None:
    found = experiment(3)
    for each in found["results"]:
        each["pool"] = "a_pool_with_a_name_" * 6
        each["retriever"] += "x" * 300
        each.update(unavailable="no key " * 40, metrics={})
    found["results"][0]["metrics"] = entry("", "", 50)["metrics"]
    figures = draw(found)
    for figure in figures.values():
        assert_whole(figure)


def test_signs_of_formulas_and_of_other_scripts_are_shown() -> None:
    found = experiment(2)
    for each in found["results"]:
        each["pool"] = "$pool^$ 工具"
        each["retriever"] = f"_工具.{each['retriever']},price=$1$"
    figures = draw(found)
    for figure in figures.values():
        assert_whole(figure)
    assert figures["recall_over_k"].axes[0].get_title() == r"\$pool^\$ \u5de5\u5177"


@pytest.mark.parametrize(
    ("value", "low", "begins", "marked"),
    [(0.5, 0.2, True, False), (0.0, 0.0, False, True), (0.1, -0.2, False, True)],
)
def test_zero_begins_the_axis_of_intervals_or_is_marked_with_room(
    value: float, low: float, begins: bool, marked: bool
) -> None:
    groups = [BarGroup("recall", (Bar("one", "run-0", value, low, 0.9),))]
    (axes,) = interval_figure("title", "mean", groups).axes
    assert (axes.get_xlim()[0] == 0) == begins
    assert axes.get_xlim()[0] <= low
    zero = [line for line in axes.lines if list(line.get_xdata()) == [0, 0]]
    assert bool(zero) == marked


def test_a_row_without_a_value_says_so_and_has_no_mark() -> None:
    groups = [BarGroup("a", (Bar("x", "run-0", 0.3, 0.1, 0.5),))]
    groups.append(BarGroup("b", (Bar("x", "run-0", None),)))
    axes = interval_figure("t", "difference", groups).axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b: n/a"]
    places = [y for line in axes.lines for _, y in line.get_xydata()]
    assert set(places) == {0.0}
