"""A calibration map as SQL: of one score one expression, of a vector one for each class."""

from collections.abc import Sequence
from itertools import pairwise

from monitor.metrics.core.log_scores import LEAST_SCORE
from monitor.metrics.core.samples import SUM_TOLERANCE
from monitor.metrics.maps.calibration_map import HIGHEST, LIMIT, LOWEST, CalibrationMap
from monitor.metrics.maps.map_file import Step
from monitor.metrics.maps.part import Engine, condition_of
from monitor.metrics.maps.vector_map import VectorMap


def sql_expression(calibration_map: CalibrationMap, column: str = "score") -> str:
    """Write a map as one expression of a column of scores.

    Parameters
    ----------
    calibration_map : CalibrationMap
        The map.
    column : str
        The column, quoted if the engine needs it; it must be a double.

    Returns
    -------
    str
        An expression; NULL where the score is NULL, NaN or outside [0, 1]. Each number is
        written with an exponent, because engines take others for decimals.

    Examples
    --------
    >>> print(sql_expression(CalibrationMap("intercept", level=0.5), "p"))
    CASE WHEN p >= 0e0 AND p <= 1e0 THEN
      1e0 / (1e0 + exp(-least(greatest(
        ln(least(greatest(p, 2.319522830243569e-16), 0.9999999999999998e0)
          / (1e0 - least(greatest(p, 2.319522830243569e-16), 0.9999999999999998e0)))
        + 0.5e0
      , (-36.0e0)), 36.0e0)))
    END
    """
    inside = f"least(greatest({column}, {_number(LOWEST)}), {_number(HIGHEST)})"
    logit = f"ln({inside}\n      / (1e0 - {inside}))"
    if calibration_map.kind == "platt":
        shape = f"{_number(calibration_map.parameters[0])} * {logit}"
    elif calibration_map.kind == "beta":
        a, b = map(_number, calibration_map.parameters)
        shape = f"{a} * ln({inside})\n    - {b} * ln(1e0 - {inside})"
    elif calibration_map.knots:
        pieces = (
            _chords(calibration_map)
            if calibration_map.kind == "isotonic"
            else _arcs(calibration_map)
        )
        shape = _cases(pieces, calibration_map.knots, logit)
    else:
        shape = logit
    return (
        f"CASE WHEN {column} >= 0e0 AND {column} <= 1e0 THEN\n"
        f"  1e0 / (1e0 + exp(-least(greatest(\n    {shape}\n"
        f"    + {_number(calibration_map.level)}\n"
        f"  , {_number(-LIMIT)}), {_number(LIMIT)})))\nEND"
    )


def sql_of_steps(steps: Sequence[Step], column: str = "score", engine: Engine = "duckdb") -> str:
    """Write several maps in their order as one expression; each holds the one before it.

    Parameters
    ----------
    steps : sequence of Step
        At least one; a score goes through all whose part its row belongs to. Where it belongs to
        none it stays as it is.
    column : str
        As for `sql_expression`.
    engine : {"duckdb", "spark"}
        Whose quotes the names and texts of conditions have; all else is the same in both.

    Examples
    --------
    >>> up, down = Step("intercept", 0.5), Step("intercept", -0.5)
    >>> sql_of_steps([up, down], "p") == sql_expression(down, f"({sql_expression(up, 'p')})")
    True
    """
    for step in steps:
        mapped = sql_expression(step, column)
        if step.part:
            condition = condition_of(step.part, engine)
            mapped = f"CASE WHEN {condition} THEN\n{mapped}\nELSE {column} END"
        column = f"({mapped})"
    return column[1:-1]


FARTHEST = 700.0  # log-odds: the exponential is finite


def sql_of_classes(vector_map: VectorMap, scores: Sequence[str]) -> list[str]:
    """Write a map of class vectors as one expression for each class.

    Parameters
    ----------
    vector_map : VectorMap
        The map.
    scores : sequence of str
        The probability of each class in SQL, a double, in the order of the map.

    Returns
    -------
    list of str
        An expression for each class; NULL where a probability is NULL, NaN or outside [0, 1], or
        the row does not sum to 1 within 1e-4.

    Notes
    -----
    ``q_k = 1 / sum_j exp(m_j - m_k)``, m the mapped logarithms, needs no largest one.

    Examples
    --------
    >>> half = VectorMap("temperature", ("a", "b"), parameters=(0.5,))
    >>> print(sql_of_classes(half, ["a", "b"])[0])
    CASE WHEN a >= 0e0 AND a <= 1e0 AND b >= 0e0 AND b <= 1e0 AND abs(a + b - 1e0) <= 0.0001e0 THEN
      1e0 / (1e0
        + exp(least(0.5e0 * ln(greatest(b, 1e-12)) - (0.5e0 * ln(greatest(a, 1e-12))), 700.0e0)))
    END
    """
    if vector_map.kind == "identity":
        return list(scores)
    logs = [f"ln(greatest({score}, {_number(LEAST_SCORE)}))" for score in scores]
    moved = _moved(vector_map, logs)
    valid = " AND ".join(f"{score} >= 0e0 AND {score} <= 1e0" for score in scores)
    total = f"abs({' + '.join(scores)} - 1e0) <= {_number(SUM_TOLERANCE)}"

    def of_class(k: int) -> str:
        others = "".join(
            f"\n    + exp(least({m} - ({moved[k]}), {_number(FARTHEST)}))"
            for j, m in enumerate(moved)
            if j != k
        )
        return f"CASE WHEN {valid} AND {total} THEN\n  1e0 / (1e0{others})\nEND"

    return [of_class(k) for k in range(len(scores))]


def _moved(vector_map: VectorMap, logs: Sequence[str]) -> list[str]:
    """Write the mapped logarithms."""
    level = [f" + {_number(of)}" for of in vector_map.level] or [""] * len(logs)
    if vector_map.kind == "order_preserving":
        spline = CalibrationMap("spline", 0.0, vector_map.parameters, vector_map.knots)
        return [_cases(_arcs(spline), vector_map.knots, log) for log in logs]
    if vector_map.kind == "dirichlet":
        count = len(logs)
        rows = [vector_map.parameters[k * count : (k + 1) * count] for k in range(count)]
        sums = [
            " + ".join(f"{_number(w)} * {log}" for w, log in zip(row, logs, strict=True))
            for row in rows
        ]
        return [f"{sum_}{of}" for sum_, of in zip(sums, level, strict=True)]
    slopes = {
        "temperature": vector_map.parameters * len(logs),
        "vector": vector_map.parameters,
    }.get(vector_map.kind, (1.0,) * len(logs))
    return [f"{_number(w)} * {log}{of}" for w, log, of in zip(slopes, logs, level, strict=True)]


# A piece is a polynomial around a knot: the knot, and its coefficients from the constant on.
Piece = tuple[float, tuple[float, ...]]


def _cases(pieces: list[Piece], knots: tuple[float, ...], logit: str) -> str:
    """Choose the piece by the logit; the last one has no upper end."""
    lines = [
        f"WHEN {logit} < {_number(knot)} THEN {_polynomial(piece, logit)}"
        for knot, piece in zip(knots, pieces, strict=False)
    ]
    chosen = "\n    ".join([*lines, f"ELSE {_polynomial(pieces[-1], logit)}"])
    return f"CASE {chosen}\n    END"


def _polynomial(piece: Piece, logit: str) -> str:
    knot, (constant, *others) = piece
    step = f"({logit} - {_number(knot)})"
    terms = [_number(constant)]
    terms += [
        " * ".join([_number(factor), *[step] * power]) for power, factor in enumerate(others, 1)
    ]
    return " + ".join(terms)


def _chords(calibration_map: CalibrationMap) -> list[Piece]:
    points = list(zip(calibration_map.knots, calibration_map.parameters, strict=True))
    inner = [(a, (u, (v - u) / (b - a))) for (a, u), (b, v) in pairwise(points)]
    return [
        (points[0][0], (points[0][1], 1.0)),
        *inner,
        (points[-1][0], (points[-1][1], 1.0)),
    ]


def _arcs(calibration_map: CalibrationMap) -> list[Piece]:
    points, reached = list(zip(calibration_map.knots, calibration_map.parameters, strict=True)), 0.0
    pieces: list[Piece] = [(points[0][0], (0.0, points[0][1]))]
    for (a, slope), (b, next_slope) in pairwise(points):
        pieces.append((a, (reached, slope, (next_slope - slope) / (2.0 * (b - a)))))
        reached += 0.5 * (slope + next_slope) * (b - a)
    return [*pieces, (points[-1][0], (reached, points[-1][1]))]


def _number(value: float) -> str:
    text = repr(float(value))
    number = text if "e" in text else f"{text}e0"
    return f"({number})" if value < 0.0 else number
