"""The data inside a report page."""

import json
import re
from typing import Any


def data_of(html: str) -> dict[str, Any]:
    """Read the data that a page holds for its script."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html)
    assert found
    content: dict[str, Any] = json.loads(found[1])
    return content
