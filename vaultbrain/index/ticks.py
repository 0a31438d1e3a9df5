"""What a person may tick below a mention. Pure."""

from __future__ import annotations

USEFUL, DISMISSED = "useful", "dismissed"
