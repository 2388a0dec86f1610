"""Formulas as docstrings write them, such as ``sum_b n_b/N g_b**2``, as MathML.

What the writing means, from the tightest to the loosest:

- ``x_i``, ``x**2``, ``x'``, ``N*`` and ``f(x)`` belong to their name;
- what stands together without a blank is multiplied: ``8x``;
- ``a/b`` without blanks divides these two, so ``n_b/N g_b`` is a fraction times ``g_b``;
- a blank or ``*`` multiplies; ``sum``, ``mean``, ``log`` and the like take what follows;
- ``a / b`` with blanks divides everything to its left by everything to its right.
"""

import re
from html import escape
from typing import NamedTuple

GREEK = {
    "alpha": "α", "beta": "β", "delta": "δ", "eta": "η", "kappa": "κ", "lambda": "λ", "mu": "μ",
    "phi": "φ", "pi": "π", "psi": "ψ", "sigma": "σ", "theta": "θ", "Phi": "Φ", "Gamma": "Γ",
}  # fmt: skip
BIG = {"sum": "∑", "integral": "∫", "max": "max", "min": "min", "argmax": "argmax", "mean": "mean"}
SIGNS = {
    "-": "−", "+-": "±", "-+": "∓", "*": "·", "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "~": "∼",
    "//": "div", "|": "∣",
}  # fmt: skip
ADDS, RELATES = {"+", "-", "+-", "-+"}, {"=", "<=", ">=", "!=", "<", ">", "->", "~", ",", "|", ":"}
CLOSING = {"(": ")", "[": "]", "{": "}", "|": "|"}
TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)|(?P<name>[A-Za-z]+\d*)|(?P<dots>\.\.\.)"
    r"|(?P<sign>\*\*|//|\+-|-\+|<=|>=|!=|->|[-+*/^=<>~,:|()\[\]{}_'!])"
)
# Words that only sentences have, and signs that only programs have: these stay as they are.
NOT_A_FORMULA = re.compile(
    r"\b(of|at|the|is|vs|or|and|in|class|if)\b|[\"#;\\]|\w\.[A-Za-z]|\w{5}\["
)
LONGEST_NAME = 2  # letters of a name that may have an index; longer ones are variables of programs


class Token(NamedTuple):
    """A part of a formula, and whether a blank is before it."""

    kind: str
    text: str
    apart: bool


class Drawn(NamedTuple):
    """MathML, and the same without the brackets around it."""

    whole: str
    bare: str


class UnreadableError(Exception):
    """Raised where a text is not a formula."""


def mathml(text: str) -> str | None:
    """Draw a formula; None if the text is not one.

    >>> mathml("k/n")
    '<span class="formula"><math><mfrac><mi>k</mi><mi>n</mi></mfrac></math></span>'
    >>> mathml("monitor.yaml")
    """
    word = re.fullmatch(r"-?[A-Za-z]\w\w+", text)
    if NOT_A_FORMULA.search(text) or (word and text not in GREEK):
        return None
    try:
        parser = Parser(_tokens(text))
        drawn = parser.relations(until="")
    except UnreadableError:
        return None
    return f'<span class="formula"><math>{drawn}</math></span>'


def _tokens(text: str) -> list[Token]:
    found, place = [], 0
    while place < len(text):
        blanks = len(text) - len(text[place:].lstrip()) - place
        match = TOKEN.match(text, place + blanks)
        if not match:
            raise UnreadableError(text)
        found.append(Token(str(match.lastgroup), match[0], blanks > 0))
        place = match.end()
    return [*found, Token("end", "", apart=False)]


class Parser:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.place = tokens, 0
        self.open: list[str] = []  # the brackets that are not closed yet

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.place]

    def take(self, text: str | None = None) -> Token:
        """Read a token, which must be `text` if that is given."""
        token = self.next
        if token.kind == "end" or (text is not None and token.text != text):
            raise UnreadableError(token.text)
        self.place += 1
        return token

    def relations(self, until: str) -> str:
        """Read sums with relations and commas between them, up to a closing bracket or the end."""
        parts = [self.sums()]
        while self.next.text != until:
            token = self.take()
            if token.text not in RELATES:
                raise UnreadableError(token.text)
            parts += [_sign(token.text), self.sums()]
        return "".join(parts)

    def sums(self) -> str:
        """Read products with plus and minus between them."""
        parts = [_sign(self.take().text)] if self.next.text in ADDS else []
        parts.append(self.quotients().whole)
        while self.next.text in ADDS:
            parts += [_sign(self.take().text), self.quotients().whole]
        return "".join(parts)

    def quotients(self) -> Drawn:
        """Read products with loose divisions between them."""
        found = self.products()
        while self.next.text == "/":
            self.take()
            found = _fraction(found, self.products())
        return found

    def products(self) -> Drawn:
        """Read factors that stand side by side."""
        parts = [self.divisions()]
        while self.starts_operand() or self.next.text in {"*", "//"}:
            if self.next.text in {"*", "//"}:
                sign = _sign(self.take().text)
                parts.append(Drawn(sign, sign))
            parts.append(self.divisions())
        if len(parts) == 1:
            return parts[0]
        whole = '<mspace width="0.17em"/>'.join(part.whole for part in parts)
        return _same(f"<mrow>{whole}</mrow>")

    def divisions(self) -> Drawn:
        """Read tight products with tight divisions between them."""
        found = self.tight()
        while (
            self.next.text == "/" and not self.next.apart and not self.tokens[self.place + 1].apart
        ):
            self.take()
            found = _fraction(found, self.tight())
        return found

    def tight(self) -> Drawn:
        """Read what stands together without a blank."""
        parts = [self.powers()]
        while self.starts_operand() and not self.next.apart:
            parts.append(self.powers())
        return parts[0] if len(parts) == 1 else _same("".join(part.whole for part in parts))

    def starts_operand(self) -> bool:
        """Tell whether the next token begins something to multiply with."""
        kind, text, apart = self.next
        if text == "|":  # else it closes, or stands for "given"
            return not self.open or (
                self.open[-1] != "|" and apart and not self.tokens[self.place + 1].apart
            )
        return kind in {"number", "name", "dots"} or text in {"(", "[", "{"}

    def powers(self) -> Drawn:
        """Read an operand with its primes, powers and factorial."""
        found = self.operand()
        while True:
            if self.next.text in {"**", "^"}:
                self.take()
                found = _same(f"<msup>{_row(found.whole)}{_row(self.exponent())}</msup>")
            elif self.next.text == "'" and not self.next.apart:
                self.take()
                found = _same(f"{found.whole}<mo>′</mo>")
            elif self.next.text == "!":
                self.take()
                found = _same(f"{found.whole}<mo>!</mo>")
            elif self.is_star():
                self.take()
                found = _same(f"<msup>{_row(found.whole)}<mo>*</mo></msup>")
            else:
                return found

    def is_star(self) -> bool:
        """Tell a star that belongs to a name, as in N*, from a multiplication."""
        if self.next.text != "*":
            return False
        after = self.tokens[self.place + 1]
        return not self.next.apart and (after.apart or after.kind in {"sign", "end"})

    def exponent(self) -> str:
        """Read a power: an operand, perhaps with a sign."""
        sign = _sign(self.take().text) if self.next.text in ADDS else ""
        return sign + self.operand().bare

    def operand(self) -> Drawn:
        """Read a number, a name, or what is in brackets."""
        token = self.take()
        if token.kind == "number":
            return _same(_number(token.text))
        if token.kind == "dots":
            return _same("<mo>…</mo>")
        if token.kind == "name":
            return self.name(token.text)
        if token.text in CLOSING:
            return self.bracket(token.text)
        raise UnreadableError(token.text)

    def bracket(self, opening: str) -> Drawn:
        """Read up to the closing bracket."""
        closing = CLOSING[opening]
        self.open.append(opening)
        inner = self.relations(until=closing)
        self.open.pop()
        self.take(closing)
        left, right = (f'<mo stretchy="false">{sign}</mo>' for sign in (opening, closing))
        bare = inner if opening == "(" else f"{left}{inner}{right}"
        return Drawn(f"<mrow>{left}{inner}{right}</mrow>", _row(bare))

    def name(self, text: str) -> Drawn:
        """Read a name with its index; of a root also what is under it."""
        if text == "sqrt":
            return _same(f"<msqrt>{self.powers().bare}</msqrt>")
        if text == "inf" and not self.starts_operand():
            return _same("<mi>∞</mi>")
        letters = text.rstrip("0123456789")
        drawn = _word(text) if text != letters or letters not in BIG else _big(letters)
        if self.next.text == "_":
            if len(letters) > LONGEST_NAME and letters not in {*BIG, *GREEK}:
                raise UnreadableError(text)
            self.take()
            return self.indexed(letters, drawn)
        return _same(drawn)

    def indexed(self, letters: str, drawn: str) -> Drawn:
        """Read the index of a name, and the upper end of an integral."""
        if self.next.text == "{":
            self.take()
            self.open.append("{")
            index = self.relations(until="}")
            self.open.pop()
            self.take("}")
        else:
            token = self.take()
            if letters in BIG and len(token.text) > LONGEST_NAME:
                raise UnreadableError(token.text)
            index = _number(token.text) if token.kind == "number" else _word(token.text)
        if self.next.text == "^" and letters == "integral":
            self.take()
            return _same(f"<msubsup>{drawn}{_row(index)}{_row(self.exponent())}</msubsup>")
        tag = "munder" if letters in BIG and letters != "mean" else "msub"
        return _same(f"<{tag}>{_row(drawn)}{_row(index)}</{tag}>")


def _word(text: str) -> str:
    """Draw a name: one letter is slanted, digits after letters are an index, R2 is a square."""
    letters = text.rstrip("0123456789")
    symbol = GREEK.get(letters, letters)
    drawn = f"<mi>{'∘' if symbol == 'o' else symbol}</mi>"
    digits = text[len(letters) :]
    if not digits:
        return drawn
    tag = "msup" if text == "R2" else "msub"
    return f"<{tag}>{drawn}<mn>{digits}</mn></{tag}>"


def _big(name: str) -> str:
    """Draw an operator that may have a range."""
    return f'<mo movablelimits="true" rspace="0.17em">{BIG[name]}</mo>'


def _number(text: str) -> str:
    value, _, exponent = text.partition("e")
    if not exponent:
        return f"<mn>{value}</mn>"
    factor = "" if value == "1" else f"<mn>{value}</mn><mo>·</mo>"
    power = exponent.replace("-", "−")
    return f"<mrow>{factor}<msup><mn>10</mn><mn>{power}</mn></msup></mrow>"


def _sign(text: str) -> str:
    return f"<mo>{escape(SIGNS.get(text, text))}</mo>"


def _fraction(above: Drawn, below: Drawn) -> Drawn:
    return _same(f"<mfrac>{_row(above.bare)}{_row(below.bare)}</mfrac>")


def _same(drawn: str) -> Drawn:
    return Drawn(drawn, drawn)


def _row(drawn: str) -> str:
    """Make one element of several."""
    single = re.fullmatch(r"<(m\w+)[^<>]*>[^<>]*</\1>", drawn)
    return drawn if single else f"<mrow>{drawn}</mrow>"
