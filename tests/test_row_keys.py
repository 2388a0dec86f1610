"""Keys that say what rows mean are checked when the configuration is read."""

from pathlib import Path

import pytest

from monitor.base.errors import ConfigError
from monitor.config import load_config
from monitor.config.filters import check_expression, check_filter, columns_of_filter

HARMLESS = {
    "model_version = 'v3' AND tenant IN ('a', 'b')": ["model_version", "tenant"],
    "lower(\"a b\") LIKE 'x%'": ["a b"],
    "a BETWEEN 1 AND 2 OR NOT b IS NULL": ["a", "b"],
    "CASE WHEN a THEN b ELSE c END": ["a", "b", "c"],
    "a::DATE >= DATE '2020-01-01' - INTERVAL 3 DAY": ["a"],
    "extract(year FROM t) = 2020 AND date_trunc('day', t) > u": ["t", "u"],
    "t AT TIME ZONE 'UTC' > '2020-01-01'": ["t"],
    "regexp_matches(a, '^x;') AND coalesce(b, '--') <> 'y'": ["a", "b"],
    "a NOT ILIKE 'x!%' ESCAPE '!' AND a % 2 = 0": ["a"],
    "s.f = 1 AND l[1] = 2 AND a IN [1, 2]": ["s", "l", "a"],
}
HARMFUL = {
    "a > 1; DROP TABLE x": "contains a semicolon",
    "a = 1) UNION (SELECT 1": "is not an SQL expression",
    "SELECT 1": "is not an SQL expression",
    "": "is not an SQL expression",
    "a > (SELECT 1)": "contains a subquery",
    "a IN (SELECT 1)": "contains a subquery",
    "EXISTS (SELECT 1)": "contains a subquery",
    "a FROM t": "must be one expression",
    "a = 1 -- x\n; SELECT 2": "contains --, which begins a comment",
    "a = 1 /* x */": r"contains /\*, which begins a comment",
    "a = 1;": "contains a semicolon",
    "a = 1\0 AND b": "contains the null character",
    "a = 1 LIMIT 1": "must be one expression",
    "a > 1, b": "must be one expression",
    "a AS b": "must be one expression",
    "DISTINCT a = 1": "must be one expression",
    "count(*) OVER () > 1": "contains a window function",
    "*": r"contains a \*",
    "COLUMNS('a') = 1": r"contains a \*",
    "a = ?": "contains a parameter",
    "a = $x": "contains a parameter",
    "read_text('/etc/passwd') = 'a'": r"calls read_text\(\)",
    "getenv('HOME') = 'x'": r"calls getenv\(\)",
    "list_filter([1], x -> read_blob(x) > 1) = [1]": r"calls list_filter\(\)",
    "sum(a) > 1": r"calls sum\(\)",
    "random() < 0.1": r"calls random\(\)",
    "t > now()": r"calls now\(\)",
    "other.lower(a) = 'x'": r"calls lower\(\)",
}


@pytest.mark.parametrize("text", HARMLESS)
def test_filters_on_the_columns_of_a_row(text: str) -> None:
    """A condition on columns is accepted, and its columns are known."""
    assert check_filter(text) == text
    assert columns_of_filter(text) == HARMLESS[text]


@pytest.mark.parametrize("text", HARMFUL)
def test_filters_that_could_do_more_are_refused(text: str) -> None:
    """No second statement, subquery, file, clock or chance; the message gives an example."""
    with pytest.raises(ValueError, match=f"{HARMFUL[text]}.*such as model_version"):
        check_filter(text)


WRONG = [
    ("predictions", "where: 'a FROM b'", r"predictions\.where: must be one expression"),
    ("predictions", "score_means: odds", r"predictions\.score_means: "),
    ("predictions", "score_means: probability_of_label", "needs predicted_label, the column"),
    (
        "predictions",
        "predicted_label: l",
        "predicted_label needs score_means: probability_of_label",
    ),
    (
        "predictions",
        "label_means: {positive: [a], negative: [b]}",
        "label_means needs score_means: probability_of_label; set it, or remove it",
    ),
    ("predictions", "id: []", r"predictions\.id"),
    ("predictions", "id: [a, b]", r"ctr: predictions.id has 2 columns and outcomes.id 1"),
    ("predictions", "time: t}\n    ids: {cast: float", r"ids\.cast: "),
    ("outcomes", "outcome_means: {positive: [a], negative: [a]}", "must not share a value.*'a'"),
    ("outcomes", "outcome_means: {positive: [a]}", r"outcome_means\.negative: is missing"),
    ("outcomes", "outcome_means: {positive: [], negative: [a]}", r"outcome_means\.positive: "),
    ("outcomes", "absent_means: negative", "must be written like 'negative after 7d'"),
    ("outcomes", "absent_means: 7", "must be written like 'negative after 7d'"),
    ("outcomes", "absent_means: negative after 7d", r"settled_after is 1; set .* at least 7"),
    ("outcomes", "duplicates: latest", "duplicates: latest needs time"),
    ("outcomes", "duplicates: first", r"outcomes\.duplicates: "),
]


@pytest.mark.parametrize(("log", "key", "said"), WRONG)
def test_wrong_keys_are_named(log: str, key: str, said: str, tmp_path: Path) -> None:
    """The message names the key and what it must be."""
    keys = {"predictions": "time: t", "outcomes": "outcome: o", log: key}
    logs = (f"    {name}: {{path: 'x/{{day}}', {extra}}}\n" for name, extra in keys.items())
    path = tmp_path / "monitor.yaml"
    path.write_text("store: store\nmodels:\n  ctr:\n" + "".join(logs))

    with pytest.raises(ConfigError, match=said):
        load_config(path).model("ctr")


@pytest.mark.parametrize("text", HARMFUL)
def test_expressions_that_could_do_more_are_refused(text: str) -> None:
    """What a filter must not do, an expression for a value must not do either."""
    with pytest.raises(ValueError, match=HARMFUL[text]):
        check_expression(text)


@pytest.mark.parametrize(
    "text", ["prediction.result.score", "m['a']", "l[1]", "doc->>'$.a.b'", '"current_date"', "a/2"]
)
def test_expressions_on_the_columns_of_a_row(text: str) -> None:
    """Fields, maps, lists, JSON paths and arithmetic are allowed."""
    assert check_expression(text) == text


@pytest.mark.parametrize("word", ["current_date", "CURRENT_TIMESTAMP", "localtime"])
def test_words_that_ask_the_clock_are_refused(word: str) -> None:
    """They look like columns; a column of that name is in double quotes, or a field."""
    for text in (f"day < {word}", f"CAST({word} AS VARCHAR) = 'x'"):
        with pytest.raises(ValueError, match="asks the clock; put the name of a column in double"):
            check_filter(text)
    assert check_filter(f"\"{word}\" = 1 AND note = '{word}' AND a.{word} > 2")
