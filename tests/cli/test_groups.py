"""Options stand in groups: dataclasses in the code, titled sections in the help."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from looped import every_case
from typer.main import get_command

from seal.cli import generate_verb, play_verbs, run_verbs, score_verbs
from seal.cli.dispatch import main
from seal.cli.groups import argument, new_app, option, repeated, setting, verb
from seal.cli.verbs import VERBS, load
from seal.runs.settings import RunSettings
from seal.sandbox import NAMES

GROUPS = [
    "Model",
    "Roles and team",
    "Retrieval",
    "Environment",
    "Judging",
    "Limits and budgets",
    "Output",
]


@dataclass(frozen=True, kw_only=True)
class Size:
    """Size: how large it is."""

    width: int = option(3, "In cm.")
    colours: tuple[str, ...] = repeated("One of them.", "--colour")


@dataclass(frozen=True, kw_only=True)
class Whole:
    """All there is."""

    size: Size


def called(*words: str) -> tuple[str, Whole]:
    """Return what a command was handed."""
    app, handed = new_app(), []

    @verb(app)
    def command(*, name: str = argument("Its name."), whole: Whole) -> int:
        handed.append((name, whole))
        return 0

    with get_command(app).make_context("x", list(words)) as context:
        context.command.invoke(context)
    return handed[0]


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[str]]:
    """Return the first words of the lines of each section of a help."""
    assert main(list(words)) == 0
    sections: dict[str, list[str]] = {}
    lines = sections.setdefault("", [])
    for line in capsys.readouterr().out.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            lines = sections.setdefault(line.rstrip(":"), [])
        elif line.startswith("  ") and not line.startswith("   "):
            lines.append(line[2:])
    return sections


def test_a_command_is_handed_filled_groups() -> None:
    assert called("box") == ("box", Whole(size=Size(width=3, colours=())))
    words = ("box", "--width", "5", "--colour", "red", "--colour", "blue")
    assert called(*words)[1].size == Size(width=5, colours=("red", "blue"))


def test_the_short_help_has_nine_options_and_a_line_for_each_group(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sections = shown(capsys, "run", "--help")
    options = [line.split()[0].rstrip(",") for line in sections["Options"]]
    flags = ["--" + name.replace("_", "-") for name in play_verbs.COMMON]
    assert options == [*flags, "--help-all", "-h"]
    lines = sections["More options, by 'seal run --help-all'"]
    assert [line.split("  ")[0] for line in lines] == GROUPS
    assert all(len(line.split("  ", 1)[1].split()) > 3 for line in lines)


@pytest.mark.parametrize("verb", ["run", "ablate", "sweep"])
def test_the_long_help_has_every_option_in_a_titled_group(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sections = shown(capsys, verb, "--help-all")
    titles = [*GROUPS[:-1], *(["Pools"] if verb == "sweep" else []), GROUPS[-1]]
    assert list(sections) == ["", "Arguments", *titles, "Options"]
    assert [line.split()[0] for line in sections["Options"]] == ["--help-all", "-h,"]
    text = " ".join(line for title in titles for line in sections[title])
    flags = {
        parameter.opts[0]
        for parameter in get_command(load(verb)).params
        if parameter.param_type_name == "option" and parameter.name != "help_all"
    }
    assert [flag for flag in flags if flag not in text] == []


def test_what_people_use_stands_first_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    sections = shown(capsys, "run", "--help-all")
    assert sections["Retrieval"][0].startswith("--retriever ")
    assert sections["Limits and budgets"][0].startswith("--limit ")


@every_case(
    "function",
    [
        play_verbs.run_command,
        score_verbs.ablate_command,
        run_verbs.compare_command,
        score_verbs.retrieve_command,
        score_verbs.score_command,
        *(inspect.unwrap(one.callback) for one in generate_verb.app.registered_commands),
    ],
)
def test_the_function_behind_a_verb_has_few_parameters(function: Callable[..., int]) -> None:
    assert len(inspect.signature(function).parameters) <= 8


def test_help_is_no_setting(seal, tmp_path) -> None:
    told = seal("benchmarks", SEAL_HELP_ALL="1").stderr
    assert "SEAL_HELP_ALL is ignored" in told
    (tmp_path / "seal.toml").write_text("help-all = true\n")
    assert "no flag --help-all" in seal("run").stderr


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Walk: how far one goes."""

    steps: int = 3
    """Number of steps.  [default: 3, or what is left]

    A step has 70 cm.
    """
    cutoffs: Sequence[int] = (1, 5)
    """Stations to stop at."""
    with_dog: bool = False
    """Take the dog along."""
    model_options: Mapping[str, Any] = field(default_factory=dict)
    """Option of the shoes."""
    hooks: Sequence[str] = ()
    """Who is told."""


def test_a_setting_is_an_option_by_its_type_default_and_docstring() -> None:
    steps = setting(Settings, "steps")
    assert (steps.default, steps.help) == (3, "Number of steps.  [default: 3, or what is left]")
    app, handed = new_app(), []

    @verb(app)
    def command(*, walk: Settings) -> int:
        handed.append(walk)
        return 0

    words = ["--cutoffs", "5,2", "--with-dog", "-M", "size=7", "--hooks", "a", "--hooks", "b"]
    for each in ([], words):
        with get_command(app).make_context("x", each) as context:
            context.command.invoke(context)
    assert handed[0] == Settings()
    assert handed[1] == Settings(
        cutoffs=(2, 5), with_dog=True, model_options={"size": 7}, hooks=("a", "b")
    )


def test_the_help_names_every_sandbox() -> None:
    told = setting(RunSettings, "sandbox").help
    assert told.endswith(f": {', '.join(NAMES)}.")


@every_case("verb", sorted(VERBS))
def test_every_help_says_first_what_an_option_is(verb: str) -> None:
    command = get_command(load(verb))
    for each in (command, *getattr(command, "commands", {}).values()):
        for parameter in each.params:
            told = str(getattr(parameter, "help", "")).split()
            assert len(told) > 1, f"{verb}: {parameter.name} has no help"
            assert told[0] not in ("Of", "Likewise"), f"{verb}: {parameter.name}: {told}"
