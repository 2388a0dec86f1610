"""Segments whose share is far outside of what the reference had, in sentences. Pure."""

from collections.abc import Iterator

from monitor.base.segment_names import NO_VALUE, OTHER, shown
from monitor.drift.records.mix import MATTERS, MovedMix, MovedShare
from monitor.words.numbers import percent

MOST_TOLD = 5  # segments with a sentence each
WHAT = {
    OTHER: "have a value that is not listed under segments",
    NO_VALUE: "have no value in the column of the segments",
}


def mix_sentences(mix: MovedMix) -> Iterator[str]:
    """Say which shares moved, and which values are new.

    Examples
    --------
    >>> from monitor.drift.records.mix import NewValue
    >>> shares = (MovedShare("other", 0.02, 0.04, 0.45), MovedShare("DE", 0.5, 0.6, 0.0))
    >>> for said in mix_sentences(MovedMix(shares, (NewValue("de", 4_100),), 10_000)):
    ...     print(said.removeprefix("Of the predictions ").removeprefix("New values: "))
    45.0 % have a value that is not listed under segments; in the reference 2.0 % to 4.0 % a day.
    none are of the segment DE; in the reference 50.0 % to 60.0 % a day.
    "de" (41.0 %). If the log writes its values otherwise, mend it; if they are meant, list them.
    """
    shares = [share for share in mix.shares if not _only_without_value(share, mix)]
    yield from (_sentence(share) for share in shares[:MOST_TOLD])
    if (left := len(shares) - MOST_TOLD) > 0:
        yield f"The shares of {left} more segments moved as far."
    if mix.values:
        named = ", ".join(
            f'"{shown(new.value)}" ({percent(new.rows / mix.predicted)})' for new in mix.values
        )
        yield (
            f"New values: {named}. If the log writes its values otherwise, mend it; if they are "
            "meant, list them."
        )


def _only_without_value(share: MovedShare, mix: MovedMix) -> bool:
    """Say whether a share of other values is that of rows without one, which count among them."""
    if share.name != OTHER or share.now < share.greatest:
        return False
    return any(m.name == NO_VALUE and share.now - m.now < MATTERS for m in mix.shares)


def _sentence(share: MovedShare) -> str:
    """Say how large a share is, and was."""
    what = WHAT.get(share.name, f"are of the segment {shown(share.name)}")
    now = "none" if share.now == 0.0 else percent(share.now)
    return (
        f"Of the predictions {now} {what}; in the reference {percent(share.least)} to "
        f"{percent(share.greatest)} a day."
    )
