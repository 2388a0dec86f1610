"""Formulas of docstrings as MathML: what the writing means, and what stays code."""

from xml.etree import ElementTree as ET

import pytest

from tools.site.formulas import mathml
from tools.site.hooks import in_site

FORMS = {
    "mfrac": "[{0}]/[{1}]",
    "msqrt": "root[{all}]",
    "msup": "{0}^[{1}]",
    "msub": "{0}_[{1}]",
    "munder": "{0}_[{1}]",
    "msubsup": "{0}_[{1}]^[{2}]",
    "mspace": " ",
}


def drawn(text: str) -> str:
    """Write a drawn formula in one line: fractions, roots, powers and indices in brackets."""
    found = mathml(text)
    assert found is not None

    def line(node: ET.Element) -> str:
        parts = [line(child) for child in node]
        form = FORMS.get(node.tag, "{text}{all}")
        return form.format(*parts, text=node.text or "", all="".join(parts))

    return line(ET.fromstring(found))  # noqa: S314 - we wrote it


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sum_b n_b/N g_b**2", "∑_[b] [n_[b]]/[N] g_[b]^[2]"),
        ("(mu - y)**2 / v + log v", "[(μ−y)^[2]]/[v]+log v"),
        ("p (1 - p) / w", "[p (1−p)]/[w]"),
        ("sqrt(2) RBS >= CE_1", "root[2] RBS≥CE_[1]"),
        ("1/sqrt(sum n p)", "[1]/[root[∑ n p]]"),
        ("exp(-x/8y**2)", "exp(−[x]/[8y^[2]])"),
        ("P(y=1|s) = sigma(a + b logit s)", "P(y=1∣s)=σ(a+b logit s)"),
        ("(E |f_k(X) - P(Y = k | X)|**p)**(1/p)", "(E |f_[k](X)−P(Y=k∣X)|^[p])^[[1]/[p]]"),
        ("integral_0^1 |x| du", "∫_[0]^[1] |x| du"),
        ("A^-1 x (y - p)", "A^[−1] x (y−p)"),
        ("h'(v) +- t* SE", "h′(v)±t^[*] SE"),
        ("2**20 * n", "2^[20] · n"),
        ("1e-7", "10^[−7]"),
        ("R2 lambda", "R^[2] λ"),
        ("sum_{i<=j} k_i", "∑_[i≤j] k_[i]"),
        ("1 / (b_0 + ...)", "[1]/[b_[0]+…]"),
    ],
)
def test_writing_means_what_the_module_says(text: str, expected: str) -> None:
    """Indices, powers, tight and loose divisions, bars and roots are read as they are meant."""
    assert drawn(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"auto"', 'method="inverted_mean"', "t.scores", "min_size", "quantile_bins(t, 15)",
        "p-value of (k, n)", "deviation", "[starts[b], starts[b+1])", "a +", ")", "x ? y", "(a",
    ],
)  # fmt: skip
def test_code_stays_code(text: str) -> None:
    """Programs, words and broken formulas are not drawn."""
    assert mathml(text) is None


@pytest.mark.parametrize(
    ("markdown", "source", "place", "expected"),
    [
        ("[a](docs/drift.md#x)", "README.md", "docs/index.md", "[a](drift.md#x)"),
        ("![a](docs/flow.svg)", "README.md", "docs/index.md", "![a](flow.svg)"),
        ("[a](../alerts/runbook.md)", "docs/x.md", "docs/x.md", "[a](runbook.md)"),
        ("[a](../../README.md)", "docs/d/x.md", "docs/d/x.md", "[a](../index.md)"),
        ("[rules](../alerts/r.yml)", "docs/x.md", "docs/x.md", "rules (`alerts/r.yml`)"),
        ("[deploy](deploy)", "README.md", "docs/index.md", "deploy"),
        ("[a](https://example.org) [b](#c)", "docs/x.md", "docs/x.md", None),
        ("`f(x)[a](b)`", "docs/x.md", "docs/x.md", "`f(x)[a](b)`"),
    ],
)
def test_links_lead_to_the_site(
    markdown: str, source: str, place: str, expected: str | None
) -> None:
    """Pages are linked where they are shown; files that are not in the site are named."""
    assert in_site(markdown, source, place) == (expected or markdown)
