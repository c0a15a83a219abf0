"""What we send, held against chat templates and against servers that enforce their rules."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_templates import refusals
from request_shapes import SAMPLES, Shape, captured
from servers import ModelServer
from strict_servers import RULES, Strict

from seal.core import Completion, Request
from seal.models.profiles import PLAIN, Profile, family_of
from seal.models.spec import ModelSettings
from seal.models.text_models import PresentedModel
from seal.models.wire import presentation_of, wire_request, wire_tools
from seal.runs.play import run
from seal.runs.settings import RunSettings

pytestmark = [pytest.mark.slow, pytest.mark.heavy]


def sent(request: Request, profile: Profile) -> dict[str, Any]:
    """Return what goes to a server under a profile."""
    asked = [request]

    class Server:
        def complete(self, request: Request) -> Completion:
            asked.append(request)
            return Completion()

    how = presentation_of(request, profile)
    if how is not None:
        PresentedModel(Server(), how).complete(request)
    tools = wire_tools(asked[-1].tools)
    return wire_request("m", asked[-1], tools, ModelSettings(), profile)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> dict[Shape, Request]:
    """A request of each shape that we send."""
    return captured(tmp_path_factory.mktemp("shapes"))


def test_no_template_refuses_what_we_send_under_the_profile_of_its_family(
    shapes: dict[Shape, Request], seal_data: Path
) -> None:
    templates = sorted((seal_data / "chat_templates").glob("*.jinja"))
    if not templates:
        pytest.skip("no chat templates among the benchmark files")
    assert len(templates) >= 70 and len(shapes) > 400
    rows, refused = [], []
    plain = [sent(request, Profile()) for request in shapes.values()]
    for template in templates:
        profile = family_of(template.stem)
        bodies = plain if profile == Profile() else [sent(r, profile) for r in shapes.values()]
        before, after = refusals(template, plain), refusals(template, bodies)
        refused += [f"{template.name}: {said}" for said in after]
        rows.append((template.stem, profile.name, len(bodies), len(before), len(after)))
    print("\n\ntemplate, profile; shapes; refused as they are, and under the profile")
    for name, family, *counts in rows:
        print(f"{name:56}{family:16}{''.join(f'{count:6}' for count in counts)}")
    assert refused == []
    needed = {name for name, _, _, before, _ in rows if before}
    assert needed == {name for name, family, *_ in rows if family != PLAIN} & needed
    assert len(needed) >= 9


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("family", RULES)
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_a_server_that_enforces_rules_plays_every_sample_without_an_error(
    family: str,
    sample: str,
    known: bool,
    model_server: Callable[..., ModelServer],
    tmp_path: Path,
) -> None:
    strict = Strict(family)
    names = {"mistral": "mistral-nemo", "gemma": "gemma-2-2b-it", "llama": "llama-3.1-8b"}
    model = f"openai/{names[family] if known else 'x'},base_url={model_server(strict).url}"
    settings = {"pool": sample, "model": model, "role_models": {"judge": model}}
    settings |= {"cache": "off", "baselines": False, "workers": 2, "limit": None if known else 12}
    played = run(RunSettings(**settings), tmp_path / "run")
    assert played.summary["errors"] == 0
    taught = [said for said in strict.refused if "seed" not in said]
    assert not (known and taught)


@pytest.mark.parametrize("name", ["mistral-nemo", "llama-3.1-8b", "gemma-2-2b-it", "gpt-4o"])
def test_what_is_in_normal_form_stays_as_it_is(shapes: dict[Shape, Request], name: str) -> None:
    from seal.models.wire import normalised

    profile = family_of(name)
    for request in shapes.values():
        once = normalised(request.messages, profile)
        assert normalised(once, profile) == once
        said = {m.content for m in request.messages if m.content.strip()}
        shown = "\n".join(message.content for message in once)
        assert all(words in shown for words in said)
        calls = [replace(call, id="") for message in once for call in message.calls]
        assert calls == [replace(c, id="") for m in request.messages for c in m.calls]
