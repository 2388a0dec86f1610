"""The functions of SciPy that we use, imported when they are first called.

Importing SciPy takes longer than showing the results of a model, which needs none of them.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.linalg.lapack import dgtsv as dgtsv
    from scipy.optimize import brentq as brentq
    from scipy.optimize import fmin_l_bfgs_b as fmin_l_bfgs_b
    from scipy.optimize import fmin_slsqp as fmin_slsqp
    from scipy.special import betainc as betainc
    from scipy.special import betaincinv as betaincinv
    from scipy.special import betaln as betaln
    from scipy.special import chdtr as chdtr
    from scipy.special import chdtrc as chdtrc
    from scipy.special import erf as erf
    from scipy.special import expit as expit
    from scipy.special import gammaln as gammaln
    from scipy.special import log_expit as log_expit
    from scipy.special import log_ndtr as log_ndtr
    from scipy.special import log_softmax as log_softmax
    from scipy.special import logit as logit
    from scipy.special import logsumexp as logsumexp
    from scipy.special import ndtr as ndtr
    from scipy.special import ndtri as ndtri
    from scipy.special import softmax as softmax
    from scipy.special import stdtr as stdtr
    from scipy.special import stdtrit as stdtrit
    from scipy.special import xlogy as xlogy
else:
    NAMES = {
        "scipy.linalg.lapack": "dgtsv",
        "scipy.optimize": "brentq fmin_l_bfgs_b fmin_slsqp",
        "scipy.special": "betainc betaincinv betaln chdtr chdtrc erf expit gammaln log_expit "
        "log_ndtr log_softmax logit logsumexp ndtr ndtri softmax stdtr stdtrit xlogy",
    }

    def _later(module: str, name: str) -> Callable[..., Any]:
        """Stand in for a function until it is called."""

        @cache
        def found() -> Callable[..., Any]:
            return getattr(import_module(module), name)

        def call(*values: Any, **options: Any) -> Any:
            return found()(*values, **options)

        return call

    globals().update(
        {name: _later(module, name) for module in NAMES for name in NAMES[module].split()}
    )
