"""The study of what maps promise: its worlds, its comparison, and its page."""

from studies.maps.page import section
from studies.maps.promises import (
    CURVES,
    MARKS,
    PLACES,
    fit_scikit_learn,
    follow,
)


def test_a_clear_slope_is_proposed_and_nothing_on_sound_days() -> None:
    """A line for slope 0.6, with a gain like that of scikit-learn; no map without a distortion."""
    steep, sound = (
        follow(CURVES[name], 0.5, 2_000, 1, fit_scikit_learn) for name in ("slope 0.6", "sound")
    )

    assert steep.kind in ("platt", "beta")
    assert steep.ours > 0.005
    assert steep.ours > max(steep.theirs.values()) - 0.002
    assert sound.kind == "identity"
    assert sound.ours == 0.0


def test_the_page_has_a_row_for_each_curve_and_volume() -> None:
    """The table is that of the study as it is."""
    below = section(MARKS)

    for curve in CURVES:
        for place in PLACES:
            assert f"| {curve} | {place} |" in below
