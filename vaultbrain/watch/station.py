"""What the watcher's duties share: the brain, the log, the pulse, the clocks, and the wish to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbrain.errors import VaultbrainError
    from vaultbrain.watch.log import WatchLog
    from vaultbrain.watch.paths import Layout
    from vaultbrain.watch.pulse import Pulse
    from vaultbrain.wiring import Brain


@dataclass(slots=True)
class Station:
    """``now`` is monotonic and ``wall`` Unix time, in seconds. ``spread`` from 0 to 1 is always the same for one vault.

    ``last_poll`` is wall time, None before the first that ended well; ``errors`` counts failures since the start; ``trouble`` is
    why the server's last poll that failed did so.
    """

    brain: Brain
    layout: Layout
    log: WatchLog
    pulse: Pulse
    should_stop: Callable[[], bool]
    now: Callable[[], float]
    wall: Callable[[], float]
    spread: float = 0.0
    last_poll: float | None = None
    errors: int = 0
    trouble: VaultbrainError | None = None

    def failed(self, event: str, sentence: str, *, about: str = "", **facts: Any) -> None:
        """Says it, and lets ``status`` know."""
        self.errors += 1
        self.log.failed(event, sentence, about=about, **facts)
        self.pulse.tell(errors=self.errors, last_error=sentence)
