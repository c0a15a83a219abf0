"""Cases that are looped over are all tried, and those that fail are named."""

import pytest
from looped import every_case


def test_every_case_is_tried_and_each_that_fails_is_named():
    tried = []

    @every_case("a, b", [(1, 2), pytest.param(3, 4, id="more")])
    @every_case("c", [5, 6])
    def three(a, b, c):
        tried.append((a, b, c))
        assert a + c != 7
        assert (a, c) != (3, 6), "both"

    with pytest.raises(pytest.fail.Exception) as failure:
        three()
    assert tried == [(1, 2, 5), (1, 2, 6), (3, 4, 5), (3, 4, 6)]
    assert str(failure.value).startswith("2 of 4 cases failed:\n\na=1, b=2, c=6\n")
    assert "\na=3, b=4, c=6\n" in str(failure.value)
    assert "AssertionError: both" in str(failure.value)


def test_a_test_is_skipped_where_each_of_its_cases_is():
    @every_case("odd", [1, 2])
    def some(odd):
        if odd == 1:
            pytest.skip("it is odd")

    @every_case("odd", [1, 3])
    def none(odd):
        pytest.skip("it is odd")

    some()
    with pytest.raises(pytest.skip.Exception, match="it is odd"):
        none()


def test_a_list_without_cases_is_refused():
    with pytest.raises(AssertionError, match="a: there is no case"):
        every_case("a", [])
