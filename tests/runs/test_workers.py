"""Chats at once: what comes of jobs, what a fault costs, and how workers end."""

import threading
import time
from concurrent.futures import Future
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_pools import Weatherman, many, play, weather_task, write_pool

from seal.core import ModelError, NotRecordedError, Stop, Trajectory, UsageError
from seal.core.records import decode
from seal.core.servers import Counts
from seal.core.store import Store
from seal.models.given_answers import ScriptedModel
from seal.runs.costs import Meter
from seal.runs.processes import ProcessWorkers, _SharedCounts
from seal.runs.role_models import Cast
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings
from seal.runs.workers import Job, Threads, ThreadWorkers, play_job


class Engine:
    """Plays a task by a function; keeps whether it was told to stop."""

    def __init__(self, play):
        self._play = play
        self.meter = Meter()
        self.cast = SimpleNamespace(outage="", refused={}, named={})
        self.seconds_left = None
        self.in_open = ()
        self.beside = None
        self.stopped = False

    def play(self, task, trial, rankings):
        return self._play(task)

    def stop(self):
        self.stopped = True


def well(task):
    return Trajectory(task.id, 0, (), stops=(Stop("done"),), answers=("yes",))


def jobs(count: int) -> list[Job]:
    return [Job(task, 0) for task in many(count)]


def raising(error: BaseException):
    def play_task(task):
        raise error

    return Engine(play_task)


def test_a_job_becomes_the_line_of_its_trajectory():
    outcome = play_job(Engine(well), Job(weather_task("Rome"), 0))

    assert decode(outcome.line, Trajectory) == well(weather_task("Rome"))
    assert not outcome.failed
    assert outcome.seconds >= 0


def test_a_task_without_a_recording_is_skipped_with_the_reason():
    outcome = play_job(raising(NotRecordedError("no recording of rome-0")), jobs(1)[0])

    assert (outcome.line, outcome.failed, outcome.note) == (None, False, "no recording of rome-0")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModelError("the server is down"), "the server is down"),
        (KeyError("city"), r"KeyError: 'city' (test_workers.py, line "),
        (SystemExit(3), "SystemExit: 3 (test_workers.py, line "),
        (GeneratorExit("odd"), "GeneratorExit: odd (test_workers.py, line "),
        (
            ImportError("libblas.so: failed to map segment"),
            "memory is short (failed to map segment",
        ),
        (RecursionError("too deep"), "RecursionError: too deep (test_workers.py, line "),
    ],
)
def test_a_failure_is_an_error_of_its_task_that_names_the_place(error, says):
    outcome = play_job(raising(error), jobs(1)[0])

    trajectory = decode(outcome.line, Trajectory)
    assert outcome.failed
    assert trajectory.stops[0].reason == "error"
    assert trajectory.stops[0].error.startswith(says)
    assert trajectory.answers == (None,)


def test_a_clock_that_is_set_back_makes_no_timing_that_cannot_be_read(monkeypatch):
    seconds = iter((100.0, 40.0))
    monkeypatch.setattr("seal.runs.workers.time.monotonic", lambda: next(seconds, 40.0))
    monkeypatch.setattr("seal.runs.workers.time.time", lambda: -5.0)
    outcome = play_job(Engine(well), Job(weather_task("Rome"), 0))
    assert (outcome.started, outcome.seconds) == (0.0, 0.0)


def test_a_fault_of_the_settings_is_raised():
    with pytest.raises(UsageError, match="not seated"):
        play_job(raising(UsageError("not seated")), jobs(1)[0])


def test_jobs_are_taken_only_as_places_are_free():
    taken = []

    def given():
        for job in jobs(20):
            taken.append(job)
            yield job

    with closing(ThreadWorkers(Engine(well), 2).outcomes(given())) as outcomes:
        next(outcomes)
        assert len(taken) == 4
        assert len(list(outcomes)) == 19


def test_what_is_finished_is_yielded_before_a_fault_is_raised():
    def play_task(task):
        if task.id == "oslo-1":
            raise UsageError("wrong")
        return well(task)

    engine, played = Engine(play_task), []
    with pytest.raises(UsageError, match="wrong"):
        for outcome in ThreadWorkers(engine, 1).outcomes(iter(jobs(2))):
            played.append(outcome.task_id)
    assert played == ["rome-0"]
    assert engine.stopped


def test_interruption_does_not_wait_for_chats_in_progress():
    never = threading.Event()

    def play_task(task):
        if task.id != "rome-0":
            never.wait(60)
        return well(task)

    engine = Engine(play_task)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        for _ in ThreadWorkers(engine, 3).outcomes(iter(jobs(9))):
            raise KeyboardInterrupt
    del _
    assert time.monotonic() - started < 30
    never.set()


def test_closing_the_outcomes_stops_the_engine():
    engine = Engine(well)
    outcomes = ThreadWorkers(engine, 2).outcomes(iter(jobs(9)))
    next(outcomes)
    outcomes.close()

    assert engine.stopped


@pytest.mark.slow
def test_chats_of_a_stopped_engine_end_at_their_next_step(tmp_path: Path):
    model, after = Weatherman(), []

    class Interrupting(Weatherman):
        def complete(self, request):
            if self.seen:
                time.sleep(0.2)
                after.append(request)
            return super().complete(request)

    model = Interrupting()
    pool = write_pool(tmp_path / "pool", many(8))
    from seal.runs.play import run

    def interrupt(state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(RunSettings(pool=pool, model=model, workers=2), tmp_path / "run", progress=interrupt)
    time.sleep(2)
    asked = len(after)
    time.sleep(0.5)
    assert len(after) == asked
    assert play(pool, tmp_path / "run", True, model=Weatherman(), workers=1).exit_code == 0


def test_threads_hand_exceptions_to_who_asks():
    with Threads(2, "test") as threads:
        future: Future[float] = threads.submit(lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            future.result()
        assert threads.submit(pow, 2, 3).result() == 8


def test_threads_drop_what_is_queued_when_the_block_fails():
    gate, ran = threading.Event(), []
    with pytest.raises(RuntimeError, match="over"), Threads(1, "test") as threads:
        threads.submit(gate.wait, 30)
        threads.submit(ran.append, 1)
        raise RuntimeError("over")
    gate.set()
    time.sleep(0.1)
    assert ran == []


def test_settings_that_cannot_cross_to_a_process_are_refused_with_the_repair(pool, tmp_path):
    settings = RunSettings(pool=pool, model=ScriptedModel(lambda request: "ok"))
    workers = ProcessWorkers(settings, RunFolder(tmp_path), 2, 1)

    with pytest.raises(UsageError, match=r"--processes 2: the settings cannot.*dotted path"):
        next(workers.outcomes(iter(jobs(2))))


def test_what_is_known_of_a_server_outlives_the_processes_that_shared_it(pool, tmp_path):
    settings = RunSettings(pool=pool, model="openai/x", base_url="http://127.0.0.1:9/v1")
    with Store(tmp_path / "answers.sqlite") as store:
        cast = Cast(settings, store, None)
        (known,) = cast.share(lambda own: own)
        known.counts.most, known.counts.taken, known.counts.outage = 3.0, 2, "it is down"
        known.counts.was_heard = True

        workers = ProcessWorkers(settings, RunFolder(tmp_path), 1, 1, cast=cast)
        assert list(workers.outcomes(iter([]))) == []

        (after,) = cast.share(lambda own: own)
        assert after.counts == Counts(most=3.0, outage="it is down", was_heard=True)
        assert after.down.is_set()


def test_processes_share_all_that_is_known_of_a_server():
    shared = {name for name, _ in _SharedCounts._fields_}
    assert shared == {part.name for part in fields(Counts)}


@pytest.mark.slow
def test_fault_in_a_worker_process_is_raised_here(pool, tmp_path, monkeypatch):
    (tmp_path / "lab_of_faults.py").write_text(
        "class Wrong:\n"
        "    identity, plays_tasks = 'wrong', True\n"
        "    def complete(self, request):\n"
        "        return 'no completion'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(UsageError, match="of type str; expected Completion"):
        play(pool, tmp_path / "run", model="lab_of_faults:Wrong", processes=2, workers=1)
