"""What a picture of a dashboard shows of it, as a digest: a picture carries that of its day."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SEEN = ("type", "title", "gridPos", "fieldConfig", "options")
KEY = "dashboard"  # of the digest, among the texts of the picture


def digest(dashboard: Mapping[str, Any]) -> str:
    """Digest the looks of every panel; queries and descriptions may change without a new picture.

    Parameters
    ----------
    dashboard : mapping
        As it is committed.
    """
    looks = [{key: panel.get(key) for key in SEEN} for panel in dashboard["panels"]]
    return hashlib.sha256(json.dumps(looks, sort_keys=True).encode()).hexdigest()
