"""How many requests a server gets at once, and in a minute."""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from seal.core import ModelError
from seal.core.concurrency import within
from seal.core.secrets import ServerSettings
from seal.core.servers import Counts, Standing, TransientError


class Requests:
    """Requests under way at a server, of which each ends when told."""

    def __init__(self):
        self.standing = Standing()
        self.under_way = []

    @property
    def counts(self):
        return self.standing.counts

    def send(self, number):
        """Send as many as there may be, and at most so many; return how many they were."""
        sent = min(number, max(0, math.ceil(min(self.counts.most, 1e9)) - self.counts.taken))
        for _ in range(sent):
            place = self.standing.place()
            place.__enter__()
            self.under_way.append(place)
        return sent

    def end(self, number, status=200):
        """End the oldest ones, by an answer or a failure."""
        for _ in range(min(number, len(self.under_way))):
            place = self.under_way.pop(0)
            if status == 200:
                place.__exit__(None, None, None)
                continue
            error = TransientError("no", status=status)
            with suppress(TransientError):
                place.__exit__(TransientError, error, None)

    def round(self, number):
        """Send a round and answer it; return how many there were."""
        sent = self.send(number)
        self.end(sent)
        return sent


@pytest.fixture
def requests():
    return Requests()


def test_a_few_refusals_by_chance_leave_as_many_at_once(requests):
    for _ in range(20):
        requests.send(200)
        requests.end(194)
        requests.end(6, 429)
    assert requests.counts.most >= 200


def test_where_most_are_refused_as_many_are_sent_as_were_taken(requests):
    requests.send(200)
    requests.under_way.reverse()
    requests.end(150, 429)
    assert requests.counts.most == 50
    assert requests.send(200) == 0


def test_a_number_that_was_good_is_reached_again_by_doubling(requests):
    for _ in range(3):
        requests.round(200)
    requests.send(200)
    requests.end(200, 429)
    assert requests.counts.most == 1
    rounds = [requests.round(200) for _ in range(9)]
    assert rounds == [1, 2, 4, 8, 16, 32, 64, 128, 200]


def test_above_the_last_good_number_it_grows_by_one_a_round(requests):
    requests.send(60)
    requests.end(20, 429)
    assert requests.counts.most == 40
    requests.end(40)
    for _ in range(10):
        requests.round(60)
    assert 48 <= requests.counts.most <= 51


def test_a_number_that_is_refused_while_it_comes_back_is_good_no_more(requests):
    for _ in range(3):
        requests.round(200)
    for _ in range(4):  # only 50 are taken from now on
        sent = requests.send(200)
        requests.end(max(0, sent - 50), 429)
        requests.end(50)
    assert requests.counts.good < 120
    for _ in range(20):
        sent = requests.send(200)
        requests.end(max(0, sent - 50), 429)
        requests.end(50)
    assert 45 <= requests.counts.most <= 60


def test_refusals_of_requests_sent_before_a_cut_are_one_event(requests):
    for _ in range(3):
        requests.round(100)
    requests.send(100)
    requests.end(100, 429)
    assert requests.counts.good == 100


@pytest.mark.parametrize("status", [500, 503])
def test_other_failures_send_no_fewer(requests, status):
    requests.send(100)
    requests.end(100, status)
    assert requests.counts.most >= 100


def limits(**given):
    return ServerSettings(**given)


def test_requests_of_a_minute_are_spread_evenly():
    standing = Standing()
    waits = [standing.reserve(limits(requests_per_minute=120), 0, 100.0) for _ in range(4)]
    assert waits == [0, 0.5, 1.0, 1.5]
    assert standing.reserve(limits(requests_per_minute=120), 0, 200.0) == 0


def test_tokens_of_a_minute_count_what_answers_took():
    how = limits(tokens_per_minute=6000)
    standing = Standing(Counts(answer_tokens=0.0))
    assert standing.reserve(how, 100, 10.0) == 0
    assert standing.reserve(how, 100, 10.0) == pytest.approx(1.0)
    standing.settle(how, reserved=100, known=100, took=400)  # 300 more: 3 seconds
    assert standing.reserve(how, 100, 10.0) == pytest.approx(5.0)
    assert standing.counts.answer_tokens > 0


def test_the_tighter_of_two_limits_holds():
    standing = Standing()
    how = limits(requests_per_minute=60, tokens_per_minute=600)
    assert [standing.reserve(how, 100, 0.0) for _ in range(3)] == [0, 10, 20]


def test_threads_keep_to_a_limit_together():
    standing = Standing()

    def ask(_):
        with standing.place(limits(requests_per_minute=3000)):
            return time.monotonic()

    began = time.monotonic()
    with ThreadPoolExecutor(8) as threads:
        asked = list(threads.map(ask, range(21)))
    assert max(asked) - began >= 20 * 60 / 3000  # however slow the machine is


def test_who_has_no_time_left_is_told_that_the_limit_held_it():
    standing = Standing()
    how = limits(requests_per_minute=0.01)
    with standing.place(how):
        pass
    with within(0.05), pytest.raises(ModelError, match="limits of a minute"), standing.place(how):
        pass
    assert standing.counts.taken == 0 and standing.counts.heard == 1  # it was never sent


def test_what_waits_is_counted(requests):
    with requests.standing.held(), requests.standing.held():
        assert requests.counts.held == 2
        assert requests.standing.alone().counts.held == 0
    assert requests.counts.held == 0
