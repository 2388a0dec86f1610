"""The colours of diagrams, on white and on a dark page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Colours by their role, after the palette of Okabe and Ito.

    People with any colour blindness can distinguish the five data colours. Blue and vermilion are
    of similar lightness, so their place shows what they mean too: rejected scores lie off the band
    of accepted probabilities, also in a grey print.

    Attributes
    ----------
    paper, ink, muted, grid : str
        Background, text and main lines, the labels of axes, grid lines.
    bars, band : str
        Counts, and intervals behind data.
    main, alarm, other, extra, rest : str
        Data: blue, vermilion, orange, green and pink. `alarm` means rejected, or a drift.
    """

    paper: str
    ink: str
    muted: str
    grid: str
    bars: str
    band: str
    main: str
    alarm: str
    other: str
    extra: str
    rest: str


LIGHT = Theme(
    paper="#ffffff",
    ink="#1b1f24",
    muted="#505862",
    grid="#e4e7ea",
    bars="#b4bcc5",
    band="#d5e5f2",
    main="#0072b2",
    alarm="#d55e00",
    other="#e69f00",
    extra="#009e73",
    rest="#cc79a7",
)
DARK = Theme(
    paper="#15191e",
    ink="#eef1f4",
    muted="#b0b8c1",
    grid="#2b323a",
    bars="#66707c",
    band="#27415a",
    main="#56b4e9",
    alarm="#ff8442",
    other="#f2b632",
    extra="#25c496",
    rest="#e39bc4",
)
