"""One run: settings, models, environments, chats, scores."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seal.runs.play import RunResult as RunResult
    from seal.runs.settings import RunSettings as RunSettings
