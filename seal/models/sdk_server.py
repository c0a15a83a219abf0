"""A server that is asked through its provider's SDK, imported when it is first asked."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any

from seal.core import MissingExtraError, ModelError, OverdueError
from seal.core.deadlines import given_up, seconds_left
from seal.core.secrets import ServerSettings
from seal.core.servers import Server


class SdkServer(Server):
    """A server behind an SDK. A request that takes longer than it may goes on in its own thread.

    Raises:
        UsageError: No key where there must be one; the text names the variable.
        MissingExtraError: The SDK is not installed.
    """

    package: str
    """What is imported; the extra that brings it has the same name."""
    needs_key = True

    def __init__(
        self,
        who: str,
        key_variable: str,
        settings: ServerSettings,
        secrets: Iterable[str | None] = (),
    ) -> None:
        super().__init__(who, key_variable, settings, secrets)
        if self.needs_key:
            self._require_key()
        if find_spec(self.package) is None:
            raise MissingExtraError(self.package, self.package)

    def post(self, body: Mapping[str, Any]) -> Any:
        """Return the JSON of an answer, with every failure told in words of ours.

        The SDK's errors end here: they may hold the key.

        Raises:
            TransientError: A failure that may pass.
            OverdueError: The time was up while words of the answer came.
            RequestError: The server does not take this request.
            ModelError: It takes none: key or name are wrong.
        """
        client, words = self._connection(), threading.Event()
        failure: ModelError | OverdueError
        try:
            return given_up(lambda: self._sent(client, body, words.set), seconds_left())
        except OverdueError:
            if words.is_set():
                failure = OverdueError(self.told("was still answering when the time was up"))
            else:
                failure = self.transient("gave no answer before the time was up", status=0)
        except Exception as error:  # SDKs have no one class for what goes wrong in them
            failure = self._told(error)
        raise failure

    @abstractmethod
    def _sent(self, client: Any, body: Mapping[str, Any], heard: Callable[[], None]) -> Any:
        """Return the JSON of an answer.

        Args:
            client: What `_connect` gave.
            body: Of the request.
            heard: Called when words of the model have come, where the answer is streamed.
        """

    @abstractmethod
    def _told(self, error: Exception) -> ModelError:
        """Return an error of the SDK in words of ours."""
