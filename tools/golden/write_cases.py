"""Writes cases.json.xz: what other programs compute on small inputs, numbers only.

Run by hand in an environment of its own that has the programs of `PROGRAMS`:

    python tools/golden/write_cases.py

The inputs are those of the programs' own tests, and some that are drawn here. Where such a test
states a number, the program must give it (`stated`), or nothing is written.
"""

import json
import lzma
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import calibration as verified
import mcgrad.metrics as mcgrad
import numpy as np
import sklearn.metrics as sk
import torch
from calibration.utils import get_ece, get_ece_em
from model_diagnostics.scoring import LogLoss, SquaredError, decompose
from netcal.metrics import ACE, ECE, MCE
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from torch_uncertainty.metrics.classification import (
    AdaptiveCalibrationError,
    BrierScore,
    CalibrationError,
    ClasswiseCalibrationError,
    SmoothCalibrationError,
)

PROGRAMS = (
    "scikit-learn", "model-diagnostics", "netcal", "uncertainty-calibration", "mcgrad",
    "torch-uncertainty",
)  # fmt: skip
STATED = 1e-5  # several programs state five digits
OUT = Path(__file__).parents[2] / "tests" / "golden" / "peers" / "cases.json.xz"

# Outcomes and scores, of the tests of: scikit-learn (curve_*, brier), the R package
# reliabilitydiag in model-diagnostics' tests, uncertainty-calibration (discrete, em_*), MCGrad
# (ecce_*, bins_*), torch-uncertainty (adaptive, halves).
BINARY: dict[str, tuple[Sequence[int], Sequence[float]]] = {
    "curve": ([0, 0, 0, 1, 1, 1], [0.0, 0.1, 0.2, 0.8, 0.9, 1.0]),
    "curve_quantile": ([0, 0, 0, 0, 1, 1], [0.0, 0.1, 0.2, 0.5, 0.9, 1.0]),
    "curve_nine": ([0, 0, 0, 1, 1, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.65, 0.7, 0.8, 0.9, 1.0]),
    "brier": ([0, 1, 1, 0, 1, 1], [0.1, 0.8, 0.9, 0.3, 1.0, 0.95]),
    "reliabilitydiag": ([0, 0, 0, 1, 1, 1], [0.4, 0.3, 0.2, 0.1, 0.5, 0.9]),
    "discrete": ([0, 1, 0, 1, 0, 1, 1, 1, 0], [0.5, 0.5, 0.5, 0.6, 0.5, 0.6, 0.6, 0.6, 0.6]),
    "em_pair": ([0, 1], [0.1, 0.7]),
    "em_none": ([0, 0, 0], [0.1, 0.7, 0.4]),
    "em_tied": ([0, 1, 0, 0, 1], [0.1, 0.1, 0.1, 0.1, 0.7]),
    "em_four": ([0, 1, 0, 1], [0.1, 0.7, 0.5, 0.9]),
    "em_upper": ([0, 0, 1, 1], [0.6, 0.7, 0.8, 0.9]),
    "em_first": ([1], [0.1]),
    "em_least": ([0], [0.1]),
    "em_ends": ([0, 1], [0.1, 0.9]),
    "em_two_tied": ([0, 1, 1], [0.1, 0.1, 0.7]),
    "em_most": ([0, 1, 1, 1], [0.1, 0.7, 0.5, 0.9]),
    "no_ones": ([0, 0, 0], [0.9, 0.1, 0.3]),
    "no_zeros": ([1, 1, 1], [0.9, 0.1, 0.3]),
    "one_zero": ([0], [0.4]),
    "one_one": ([1], [0.4]),
    "ecce_mixed": ([0, 1, 0, 1], [0.6, 0.8, 0.2, 0.4]),
    "ecce_ones": ([1, 1, 1, 1], [0.6, 0.8, 0.2, 0.4]),
    "ecce_one": ([0, 1, 0, 0], [0.6, 0.8, 0.2, 0.4]),
    "ecce_at_0": ([0, 1, 0, 0], [0.0, 0.0, 0.0, 0.0]),
    "ecce_at_1": ([0, 1, 0, 0], [1.0, 1.0, 1.0, 1.0]),
    "bins_ratio": ([0, 1, 0, 1, 1], [0.1, 0.9, 0.2, 0.8, 0.7]),
    "adaptive": ([0, 0, 0, 1, 1], [0.3, 0.24, 0.25, 0.2, 0.8]),
    "halves": ([0, 0, 1, 1], [0.35, 0.35, 0.75, 0.75]),
}
# Labels and a row of probabilities for each: of uncertainty-calibration's and scikit-learn's tests.
FIRST, SECOND, THIRD = [0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.1, 0.0, 0.9]
CLASSES: dict[str, tuple[Sequence[int], Sequence[Sequence[float]]]] = {
    "three_labels": (
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2],
        [*[FIRST] * 6, *[SECOND] * 4, *[THIRD] * 4],
    ),
    "log_loss_classes": ([1, 0, 2], [[0.2, 0.7, 0.1], [0.6, 0.2, 0.2], [0.6, 0.1, 0.3]]),
}

# Where a program differs from monitor.metrics, and why; docs/comparison.md explains the reasons.
# An expression: program, call, input.
DIFFERS = (
    ("upper edges", "scikit-learn calibration_curve (brier|reliabilitydiag|bins_ratio|drawn_97)"),
    ("upper edges", "uncertainty-calibration get_ece (curve_nine|reliabilitydiag|drawn_97)"),
    ("interpolated quantiles", r"scikit-learn calibration_curve\(quantile\) (drawn_24|drawn_97)"),
    ("interpolated quantiles", r"netcal ACE\(equal_intervals=False\) (drawn_24|drawn_97)"),
    ("remainder", "uncertainty-calibration get_ece_em (drawn_24|drawn_97)"),
    ("remainder", r"torch-uncertainty AdaptiveCalibrationError\(.*\) (adaptive|drawn_40_by_7)"),
    ("average", "netcal ACE .*"),
    ("borders", "(scikit-learn calibration_curve|netcal [EM]CE) discrete"),
    ("borders", "(uncertainty-calibration get_ece|mcgrad expected_calibration_error) discrete"),
    ("rows of equal scores", r"mcgrad ecce\w* drawn_97"),
    ("clipped", "scikit-learn log_loss ecce_at_0"),
    ("steps", r"scikit-learn IsotonicRegression\(between\) .*"),
    ("grid", "torch-uncertainty SmoothCalibrationError.*"),
)


def draw() -> None:
    """Add drawn inputs: scores of two decimals with ties, of six without, and three classes."""
    for seed, rows in enumerate((24, 40, 97, 200)):
        rng = np.random.default_rng(seed)
        scores = np.round(rng.beta(1.2, 2.0, rows), 6 if seed % 2 else 2)
        outcomes = (rng.random(rows) < scores**1.4).astype(int)
        BINARY[f"drawn_{rows}"] = (outcomes.tolist(), scores.tolist())
    rng = np.random.default_rng(9)
    rows = np.round(rng.dirichlet([1.0, 1.5, 2.0], 60), 3)
    rows[:, 2] = np.round(1.0 - rows[:, 0] - rows[:, 1], 3)
    labels = [int(rng.choice(3, p=row / row.sum())) for row in rows]
    CLASSES["drawn_classes"] = (labels, rows.tolist())


def case(
    program: str, call: str, data: str, ours: str, value: Any, stated: Any = None, **options: int
) -> dict[str, Any]:
    """Describe a case, once the program gives what its own tests state."""
    listed = np.asarray(value, float)
    named = f"{program} {call} {data}"
    reasons = [reason for reason, pattern in DIFFERS if re.fullmatch(pattern, named)]
    if stated is not None:
        np.testing.assert_allclose(listed, stated, atol=STATED)
    return {
        "program": program, "call": call, "data": data, "ours": ours, "options": options,
        "value": listed.tolist(), "differs": reasons[0] if reasons else None,
        "stated": stated is not None,
    }  # fmt: skip


def on(names: Sequence[str]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Give the named inputs as arrays."""
    for name in names:
        outcomes, scores = BINARY[name]
        yield name, np.array(outcomes), np.array(scores, float)


SMALL = ("curve_nine", "brier", "reliabilitydiag", "discrete", "bins_ratio")
DRAWN = ("drawn_24", "drawn_40", "drawn_97", "drawn_200")


def of_scikit_learn() -> Iterator[dict[str, Any]]:
    """Scores, AUC, the calibration curve and isotonic regression."""
    p = "scikit-learn"
    for name, y, s in on([*SMALL, *DRAWN]):
        yield case(p, "brier_score_loss", name, "brier", sk.brier_score_loss(y, s))
        yield case(p, "roc_auc_score", name, "auc", sk.roc_auc_score(y, s))
    for name, stated in (("one_zero", 0.16), ("one_one", 0.36)):
        y, s = map(np.array, BINARY[name])
        yield case(p, "brier_score_loss", name, "brier", sk.brier_score_loss(y, s, pos_label=1),
                   stated)  # fmt: skip
    for name, y, s in on(["reliabilitydiag", "discrete", *DRAWN[1::2]]):
        yield case(p, "log_loss", name, "log_score", sk.log_loss(y, s))
    y, s = map(np.array, ([0, 1, 1, 0], [0.7, 0.4, 0.6, 0.3]))
    BINARY["ham_and_spam"] = (y.tolist(), s.tolist())
    yield case(p, "log_loss", "ham_and_spam", "log_score", sk.log_loss(y, s), 0.7469410)
    for name, y, s in on(["ecce_at_0"]):
        yield case(p, "log_loss", name, "log_score", sk.log_loss(y, s))
    stated = {"curve": ([0, 1], 2), "curve_nine": ([0, 0.5, 1, 1], 4)}
    for name, y, s in on(["curve", *SMALL, *DRAWN]):
        rates, n = stated.get(name, (None, 5))
        found = calibration_curve(y, s, n_bins=n)
        yield case(p, "calibration_curve", name, "rates", found[0], rates, bins=n)
        yield case(p, "calibration_curve", name, "mean_scores", found[1], bins=n)
    for name, y, s in on(["curve_quantile", *DRAWN]):
        stated_rates = [0, 2 / 3] if name == "curve_quantile" else None
        n = 2 if stated_rates else 5
        found = calibration_curve(y, s, n_bins=n, strategy="quantile")
        yield case(p, "calibration_curve(quantile)", name, "quantile_rates", found[0],
                   stated_rates, bins=n)  # fmt: skip
    for name, y, s in on(["reliabilitydiag", *DRAWN]):
        fitted = IsotonicRegression(y_min=0, y_max=1).fit(s, y).predict(np.unique(s))
        yield case(p, "IsotonicRegression", name, "isotonic", fitted)
    for name, y, s in on(DRAWN[-1:]):
        inside = np.linspace(0.1, 0.8, 8)
        fitted = IsotonicRegression(y_min=0, y_max=1).fit(s, y).predict(inside)
        yield case(p, "IsotonicRegression(between)", name, "centred_isotonic", fitted)


def of_model_diagnostics() -> Iterator[dict[str, Any]]:
    """Decompose both scores."""
    rules = {"corp_brier": (SquaredError, [0.1016667, 0.125, 0.25, 0.2266667]),
             "corp_log": (LogLoss, [0.3237327, 0.3182571, 0.6931472, 0.6986228])}  # fmt: skip
    for name, y, s in on(["reliabilitydiag", "discrete", *DRAWN]):
        for ours, (rule, numbers) in rules.items():
            found = decompose(y_obs=y, y_pred=s, scoring_function=rule())
            columns = ("miscalibration", "discrimination", "uncertainty", "score")
            values = [found[column][0] for column in columns]
            stated = numbers if name == "reliabilitydiag" else None
            call = f"decompose({rule.__name__})"
            yield case("model-diagnostics", call, name, ours, values, stated)


def of_netcal() -> Iterator[dict[str, Any]]:
    """ECE, MCE and ACE over bins of equal width; ACE also over bins of equal size."""
    for name, y, s in on([*SMALL, *DRAWN]):
        yield case("netcal", "ECE", name, "ece", ECE(bins=5).measure(s, y), bins=5)
        yield case("netcal", "MCE", name, "mce", MCE(bins=5).measure(s, y), bins=5)
        yield case("netcal", "ACE", name, "ace", ACE(bins=5).measure(s, y), bins=5)
    for name, y, s in on(DRAWN):
        found = ACE(bins=5, equal_intervals=False).measure(s, y)
        yield case("netcal", "ACE(equal_intervals=False)", name, "ace", found, bins=5)


def of_verified_calibration() -> Iterator[dict[str, Any]]:
    """Errors over distinct scores, over bins, and without the bias of chance."""
    p = "uncertainty-calibration"
    gaps = 4 / 9 * 0.25 + 5 / 9 * 0.2, (4 / 9 * 0.25**2 + 5 / 9 * 0.2**2) ** 0.5
    for name, y, s in on(["discrete"]):
        for order, ours, stated in ((1, "ece_distinct", gaps[0]), (2, "rms_distinct", gaps[1])):
            found = verified.get_calibration_error(s, y, p=order, debias=False)
            yield case(p, f"get_calibration_error(p={order})", name, ours, found, stated)
    equal_size = (
        ("em_pair", 1, 0.1), ("em_none", 1, 0.4), ("em_tied", 2, 0.15 * 4 / 5 + 0.3 / 5),
        ("em_four", 2, 0.25), ("em_four", 4, 0.25), ("em_upper", 2, 0.4), ("em_first", 1, 0.9),
        ("em_least", 1, 0.1), ("em_ends", 1, 0.0), ("em_pair", 2, 0.2),
        ("em_two_tied", 2, 0.4 * 2 / 3 + 0.1), ("em_most", 2, 0.2), ("em_most", 4, 0.25),
    )  # fmt: skip
    for name, n, stated in equal_size:
        y, s = map(np.array, BINARY[name])
        found = get_ece_em(s, y, num_bins=n)
        yield case(p, "get_ece_em", name, "ece_quantile", found, stated, bins=n)
    for name, n, stated in (
        ("no_ones", 1, 1.3 / 3),
        ("no_zeros", 1, 1.7 / 3),
        ("em_upper", 2, 0.25),
    ):
        y, s = map(np.array, BINARY[name])
        yield case(p, "get_ece", name, "ece", get_ece(s, y, num_bins=n), stated, bins=n)
    for name, y, s in on([*SMALL, *DRAWN]):
        yield case(p, "get_ece", name, "ece", get_ece(s, y, num_bins=5), bins=5)
    for name, y, s in on(DRAWN):
        found = get_ece_em(s, y, num_bins=5)
        yield case(p, "get_ece_em", name, "ece_quantile", found, bins=5)
    bins = verified.utils.get_equal_bins
    for name, y, s in on(["drawn_40", "drawn_200"]):
        for order, ours in ((1, "ece_quantile"), (2, "rms_quantile")):
            found = verified.lower_bound_scaling_ce(
                s, y, p=order, debias=False, num_bins=10, binning_scheme=bins
            )
            yield case(p, f"lower_bound_scaling_ce(p={order})", name, ours, found, bins=10)
        debiased = verified.lower_bound_scaling_ce(
            s, y, p=2, debias=True, num_bins=10, binning_scheme=bins
        )
        yield case(p, "lower_bound_scaling_ce(debias)", name, "debiased", debiased, bins=10)
    three = 6 / 14 * (5 / 6 - 0.6) + 4 / 14 * 0.05 + 4 / 14 * 0.1
    labels, rows = map(np.array, CLASSES["three_labels"])
    found = verified.get_calibration_error(rows, labels, p=1, debias=False, mode="top-label")
    yield case(p, "get_calibration_error(top-label)", "three_labels", "top_label_distinct", found,
               three)  # fmt: skip


def of_mcgrad() -> Iterator[dict[str, Any]]:
    """Cumulative differences, what is predicted over what came true, and ECE."""
    ecce = {"ecce_mixed": 0.15, "ecce_ones": 0.5, "ecce_one": 0.3, "ecce_at_0": 0.25,
            "ecce_at_1": 0.75}  # fmt: skip
    sigma = {"ecce_mixed": 0.67082, "ecce_ones": 2.23607, "ecce_one": 1.34164}
    for name, y, s in on([*ecce, *DRAWN]):
        yield case("mcgrad", "ecce", name, "kuiper", mcgrad.ecce(y, s), ecce.get(name))
        if name not in ("ecce_at_0", "ecce_at_1"):
            found = mcgrad.ecce_sigma(y, s)
            yield case("mcgrad", "ecce_sigma", name, "kuiper_sigma", found, sigma.get(name))
            yield case("mcgrad", "ecce_pvalue", name, "kuiper_p", mcgrad.ecce_pvalue(y, s))
    for name, y, s in on(["bins_ratio", *DRAWN]):
        found = mcgrad.calibration_ratio(y, s)
        stated = 0.9 if name == "bins_ratio" else None
        yield case("mcgrad", "calibration_ratio", name, "expected_over_actual", found, stated)
    for name, y, s in on([*SMALL, *DRAWN]):
        found = mcgrad.expected_calibration_error(y, s, num_bins=5)
        yield case("mcgrad", "expected_calibration_error", name, "ece", found, bins=5)


def of_torch_uncertainty() -> Iterator[dict[str, Any]]:
    """Measures of the predicted class, of every class, and smooth ECE; in single precision."""
    p = "torch-uncertainty"
    mean = (0.7 + 0.76 + 0.75) / 3
    adaptive = {"l1": 0.6 * (1 - mean) + 0.4 * 0.3, "l2": (0.6 * (1 - mean) ** 2 + 0.036) ** 0.5,
                "max": 0.3}  # fmt: skip
    for name, y, s in on(["adaptive", "halves", *DRAWN]):
        scores, outcomes = torch.as_tensor(s), torch.as_tensor(y)
        n = 5 if name in DRAWN else 2
        for norm, ours in (("l1", "ece"), ("l2", "rms"), ("max", "mce")):
            metric = CalibrationError(task="binary", num_bins=n, norm=norm)
            metric.update(scores, outcomes)
            found = float(metric.compute())
            yield case(p, f"CalibrationError({norm})", name, ours, found, bins=n)
    untied = {"adaptive": 2, "drawn_40": 5, "drawn_200": 5, "drawn_40_by_7": 7}
    BINARY["drawn_40_by_7"] = BINARY["drawn_40"]
    for name, y, s in on(list(untied)):
        for norm in ("l1", "l2", "max"):
            metric = AdaptiveCalibrationError(task="binary", num_bins=untied[name], norm=norm)
            metric.update(torch.as_tensor(s), torch.as_tensor(y))
            stated = adaptive[norm] if name == "adaptive" else None
            yield case(p, f"AdaptiveCalibrationError({norm})", name, f"top_label_{norm}",
                       float(metric.compute()), stated, bins=untied[name])  # fmt: skip
    for name, y, s in on(DRAWN):
        metric = SmoothCalibrationError(kernel_type="reflected", bandwidth=0.1)
        metric.update(torch.as_tensor(s, dtype=torch.float32), torch.as_tensor(y))
        yield case(p, "SmoothCalibrationError(reflected, 0.1)", name, "smooth_top_label",
                   float(metric.compute()))  # fmt: skip
    for name, (labels, rows) in CLASSES.items():
        metric = ClasswiseCalibrationError(num_classes=3, num_bins=5, norm="l1", reduction="sum")
        metric.update(torch.tensor(rows), torch.tensor(labels))
        yield case(p, "ClasswiseCalibrationError(sum)", name, "classwise", float(metric.compute()),
                   bins=5)  # fmt: skip
        score = BrierScore(num_classes=3)
        score.update(torch.tensor(rows), torch.tensor(labels))
        yield case(p, "BrierScore", name, "brier_classes", float(score.compute()))


def main() -> None:
    """Ask every program, and write what they say."""
    warnings.filterwarnings("ignore")
    draw()
    makers: tuple[Callable[[], Iterator[dict[str, Any]]], ...] = (
        of_scikit_learn, of_model_diagnostics, of_netcal, of_verified_calibration, of_mcgrad,
        of_torch_uncertainty,
    )  # fmt: skip
    cases = [c for maker in makers for c in maker()]
    versions = {program: version(program) for program in PROGRAMS}
    record = {
        "provenance": "Written by write_cases.py. Numbers only, none of the programs' code. The "
        "inputs are those of the programs' own tests, the drawn ones our own. stated: such a test "
        "says the value, to 1e-5. differs: why monitor.metrics gives another.",
        "versions": versions,
        "binary": BINARY,
        "classes": CLASSES,
        "cases": cases,
    }
    OUT.write_bytes(lzma.compress(json.dumps(record).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(len(cases), "cases", OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
