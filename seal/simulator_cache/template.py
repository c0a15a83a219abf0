"""The simulator without a model, which loads what writes its answers with the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seal.core import JSON, Response, Tool
from seal.core.canonical import digest
from seal.simulator_cache.answer_cache import OfTool

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class Template:
    """Answers from the tool's response shape or, where there is none, from what its words imply.

    An answer depends on the tool's document, the arguments and the seed alone. Fields that are
    named like an argument repeat it. Tools without a shape say the same of the same id. Of a tool
    whose words imply nothing the answer is its arguments and `"result": null`. Safe in threads.

    Args:
        seed: Another seed gives other answers.
    """

    identity = "template/1"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._checker = OfTool(_checker)

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return an answer that the tool's response schema accepts.

        Raises:
            SimulatorError: The schema admits no answer, or none that was found.
        """
        from seal.simulator_cache.plausible import has_no_shape, plausible

        checker = self._checker(tool)
        ids = {name: value for name, value in arguments.items() if name.lower().endswith("id")}
        about = [ids] if ids and has_no_shape(checker) else [tool.id, arguments]
        return Response(plausible(tool, checker, arguments, digest([self._seed, *about])))

    def prompt_version(self, tool: Tool) -> str:
        """Return the version of the rules: an answer of earlier ones is not used."""
        return "2"


def _checker(tool: Tool) -> Validator:
    from seal.simulator_cache.plausible import checker_of

    return checker_of(tool)
