"""One run: settings, models, environments, chats, scores."""

from typing import TYPE_CHECKING

from seal.lazy import give_names

if TYPE_CHECKING:
    from seal.runs.run import RunResult as RunResult
    from seal.runs.settings import RunSettings as RunSettings

give_names(__name__)
