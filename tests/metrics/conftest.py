"""What several files of tests need: values of other programs on more data than is kept here."""

import pytest

from tests.support.recorded import Recorded, read_reference


@pytest.fixture(scope="session")
def reference() -> list[Recorded]:
    """Values of a dozen programs on four seeded data sets."""
    return read_reference()
