"""A test of an agent fails where a metric of its run is below a bound."""

import pytest

import seal
from seal.core import DataError, UnknownNameError
from seal.testing import assert_passes


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "lexical"
    return seal.run("sample", first=10, baselines=False, out=out)


def test_a_bound_that_is_reached_passes(run):
    assert_passes(run, at_least=0.2)
    assert_passes(run, "call_recall", at_least=run["call_recall"].low, by="low")


def test_a_bound_that_is_missed_is_told_with_the_interval_and_the_tasks(run):
    with pytest.raises(
        AssertionError,
        match=r"pass_rate 0\.200 \[0\.036, 0\.510\] n=10: its mean is 0\.200, "
        r"expected at least 0\.8; below it: calendar-01, city-01, .* and 3 more",
    ):
        assert_passes(run, at_least=0.8)
    with pytest.raises(AssertionError, match=r"its low is 0\.036, expected at least 0\.1"):
        assert_passes(run, at_least=0.1, by="low")


def test_what_applies_nowhere_and_what_is_unknown_is_no_pass(run):
    with pytest.raises(DataError, match="similarity has no mean"):
        assert_passes(run, "similarity", at_least=0.0)
    with pytest.raises(UnknownNameError, match=r"no metric 'pas_rate'.*pass_rate"):
        assert_passes(run, "pas_rate", at_least=0.1)


def test_a_run_with_errors_is_no_pass(tmp_path):
    def breaks(request, tools):
        raise ConnectionError("no route to the lab")

    run = seal.run("sample", agent=breaks, first=2, baselines=False, out=tmp_path / "run")
    with pytest.raises(DataError, match="2 chats failed and 0 were not finished; go on with"):
        assert_passes(run, at_least=0.0)
