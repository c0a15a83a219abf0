"""Own simulators: every way in, and what is told of one that is none."""

import pytest

from seal.core import Response, Tool, UsageError
from seal.core.store import Store
from seal.simulator_cache.simulators import SimulatorSetup, build_simulator

TOOL = Tool("t/a/b", "b")
NAME = f"{__name__}:Plain"


class Plain:
    def respond(self, tool, arguments):
        return Response({"by": tool.name})


class Seeded:
    identity = "seeded/1"

    def __init__(self, setup):
        self.seed = setup.seed

    def respond(self, tool, arguments):
        return Response(self.seed)


def made(setup):
    return Seeded(setup)


class Unreadable:
    """Fails whatever is asked of it."""

    def __getattr__(self, name):
        raise OSError(name)


unreadable = Unreadable()


@pytest.fixture
def setup(tmp_path):
    with Store(tmp_path / "answers.sqlite") as store:
        yield SimulatorSetup(tools={TOOL.id: TOOL}, store=store, seed=5)


@pytest.mark.parametrize("what", [Plain, Plain(), NAME])
def test_a_class_without_arguments_and_identity_goes_by_its_name(setup, what):
    simulator = build_simulator(what, setup)

    assert simulator.identity == NAME
    assert simulator.respond(TOOL, {}).response == {"by": "b"}
    assert [entry.value["simulator"] for entry in setup.store.entries()] == [NAME]


@pytest.mark.parametrize("what", [Seeded, made, f"{__name__}:made"])
def test_a_class_or_function_that_takes_the_setup_gets_it(setup, what):
    simulator = build_simulator(what, setup)

    assert (simulator.identity, simulator.respond(TOOL, {}).response) == ("seeded/1", 5)


def test_an_own_simulator_stands_beside_ours(setup):
    assert build_simulator(f"{NAME}+template", setup).identity.startswith(f"{NAME}+template")


@pytest.mark.parametrize("what", [lambda a, b: Plain(), 3, object, dict])
def test_what_is_no_simulator_is_refused_with_what_was_expected(setup, what):
    with pytest.raises(UsageError, match=r"respond\(tool, arguments\)"):
        build_simulator(what, setup)


def test_a_named_simulator_whose_attributes_raise_is_told_by_its_name(setup):
    with pytest.raises(
        UsageError, match=r"unreadable': cannot be used: OSError: respond .*mend it"
    ):
        build_simulator(f"{__name__}:unreadable", setup)
