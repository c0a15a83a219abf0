"""Records on disk: what reading and writing many of them does to the process."""

import gc

from seal.core.records import without_cycle_search


def test_the_search_for_cycles_goes_on_after_a_pause_or_when_all_is_prepared() -> None:
    assert gc.isenabled()
    with without_cycle_search():
        with without_cycle_search():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()

    with without_cycle_search() as prepared:
        assert not gc.isenabled()
        prepared()
        assert gc.isenabled()
        assert gc.get_freeze_count()
    assert gc.isenabled()
    assert not gc.get_freeze_count()


def test_who_does_without_the_search_for_cycles_still_does() -> None:
    gc.disable()
    try:
        with without_cycle_search() as prepared:
            prepared()
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
