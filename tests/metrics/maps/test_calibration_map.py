"""The form of calibration maps: increasing, inside (0, 1), and the same in SQL as in Python."""

import duckdb
import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.metrics.maps.calibration_map import (
    IDENTITY,
    CalibrationMap,
    apply_calibration_map,
    check_map,
)
from monitor.metrics.maps.sql import sql_expression

MAPS = {
    "identity": IDENTITY,
    "intercept": CalibrationMap("intercept", level=-0.7),
    "platt": CalibrationMap("platt", level=0.1, parameters=(0.61,)),
    "beta": CalibrationMap("beta", level=-0.2, parameters=(0.4, 1.7)),
    "spline": CalibrationMap(
        "spline", level=-3.1, parameters=(0.5, 1.2, 0.9, 2e-3), knots=(-4.0, -2.5, 0.5, 1.0)
    ),
    "isotonic": CalibrationMap(
        "isotonic", level=0.3, parameters=(-5.0, -4.9, -1.0, 3.0), knots=(-4.0, -2.5, 0.5, 1.0)
    ),
}
EDGES = np.array([0.0, 1e-300, 1e-12, 1e-4, 0.5, 0.999, 1.0 - 2.0**-53, 1.0])
SCORES = np.sort(np.concatenate([EDGES, np.random.default_rng(1).beta(0.3, 0.6, 400)]))


def plain(scores: np.ndarray, found: CalibrationMap) -> np.ndarray:
    """Apply a map by the formula of its family, the integral of a spline by quadrature."""
    s = np.clip(scores, expit(-36.0), expit(36.0))
    x = logit(s)
    p = found.parameters
    if found.kind == "platt":
        g = p[0] * x
    elif found.kind == "beta":
        g = p[0] * np.log(s) - p[1] * np.log1p(-s)
    elif found.kind == "spline":
        fine = np.linspace(-37.0, 37.0, 740_001)
        slopes = np.interp(fine, found.knots, p)
        area = np.concatenate([[0.0], np.cumsum(0.5 * (slopes[1:] + slopes[:-1])) * 1e-4])
        g = np.interp(x, fine, area) - np.interp(found.knots[0], fine, area)
    elif found.kind == "isotonic":
        below, above = np.minimum(x - found.knots[0], 0), np.maximum(x - found.knots[-1], 0)
        g = np.interp(x, found.knots, p) + below + above
    else:
        g = x
    return expit(np.clip(g + found.level, -36.0, 36.0))


@pytest.mark.parametrize("name", MAPS)
def test_map_is_the_formula_of_its_family(name: str) -> None:
    """The map agrees with its formula; the quadrature of a spline leaves 1e-8."""
    found = apply_calibration_map(SCORES, MAPS[name])

    np.testing.assert_allclose(
        found, plain(SCORES, MAPS[name]), rtol=1e-6 if name == "spline" else 1e-12
    )


@pytest.mark.parametrize("name", MAPS)
def test_map_keeps_order_and_never_gives_0_or_1(name: str) -> None:
    """Scores 0.01 apart in logit stay strictly ordered, and the ends stay inside."""
    fine = expit(np.arange(-30.0, 30.0, 0.01))
    found = apply_calibration_map(fine, MAPS[name])
    ends = apply_calibration_map(EDGES, MAPS[name])

    inside = (found > 1e-15) & (found < 1.0 - 1e-13)  # beyond, doubles are too coarse for steps
    assert (np.diff(found[inside]) > 0.0).all()
    assert (np.diff(found) >= 0.0).all()
    assert (ends > 0.0).all()
    assert (ends < 1.0).all()


@pytest.mark.parametrize("name", MAPS)
def test_duckdb_computes_the_same(name: str) -> None:
    """The SQL expression gives the same in DuckDB; missing and wrong scores give NULL."""
    expression = sql_expression(MAPS[name])
    with duckdb.connect() as session:
        rows = session.execute(
            f"SELECT {expression} FROM (SELECT unnest(?::DOUBLE[]) AS score)",  # noqa: S608
            [SCORES.tolist()],
        ).fetchall()
        wrong = session.execute(
            f"SELECT {expression} FROM "  # noqa: S608
            "(VALUES (NULL::DOUBLE), ('nan'::DOUBLE), (-0.1), (1.1)) AS t(score)"
        ).fetchall()

    # Both round in every step; 1e-12 relative is some thousand roundings.
    np.testing.assert_allclose(
        [row[0] for row in rows], apply_calibration_map(SCORES, MAPS[name]), rtol=1e-12
    )
    assert wrong == [(None,)] * 4


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (CalibrationMap("platt"), "has 1 parameters, got 0"),
        (CalibrationMap("platt", parameters=(-0.5,)), "not strictly increasing"),
        (CalibrationMap("platt", parameters=(1.0,), knots=(0.0, 1.0)), "cannot have 2 knots"),
        (CalibrationMap("spline", parameters=(1.0,), knots=(0.0,)), "cannot have 1 knots"),
        (CalibrationMap("spline", parameters=(1.0, 1.0), knots=(1.0, 0.0)), "knots of the map"),
        (CalibrationMap("isotonic", parameters=(1.0, 1.0), knots=(0.0, 1.0)), "not strictly"),
        (CalibrationMap("identity", level=0.5), "level of an identity is 0"),
        (CalibrationMap("identity", known=(0.5, 0.2)), "known scores"),
    ],
)
def test_check_names_what_is_wrong(found: CalibrationMap, message: str) -> None:
    """A map that reorders, or whose parts do not fit together, is refused."""
    with pytest.raises(ValueError, match=message):
        check_map(found)
