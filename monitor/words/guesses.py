"""What `init` says: doubts, the reasons above settings, and what stands around them. Pure.

Tables, in which a sentence has the names of its facts in braces.
"""

HEAD = """\
# Written by calibration-monitor init. Every setting was guessed from a sample of the logs; the
# comment above it says why. Read them once, then run:
{commands}
# monitor.example.yaml explains every key (calibration-monitor assets writes it).

# Where results are kept: a folder, or s3://bucket/prefix (install calibration-monitor[s3]).
store: store

models:
"""
UNSURE = (
    "init is unsure of this. Look at the logs, correct the settings below, and delete the line; "
    "check and show repeat it until then."
)
REST = """\
    # Who gets the alerts, and how urgently: page, ticket or info.
    # owner: risk-team
    # severity: ticket
    # Days that are merged into one evaluation.
    # windows: [1, 7, 28]
"""
REST_WITHOUT_ZONE = f"""\
    # A day begins at midnight in this time zone.
    # time_zone: UTC
{REST}"""
DOUBTS = {
    "reversed": "higher `{score}` has fewer `{outcome}` of 1, so the score is taken for the "
    "probability of the other class",
    "no prediction": "no column predicts `{outcome}` better than a constant does; check that "
    "`{score}` is the score and `{outcome}` its outcome",
    "rival": "`{score}` predicts {how} `{rival}` (log loss {own:.3f} and {other:.3f})",
    "other outcome": "`{outcome}` (1 in {share} of the rows) fits `{score}` (mean {mean}) {how} "
    "`{rival}` (1 in {other}){also}",
    "measured classes": "which class each probability is of was measured, because their names do "
    "not say it: {pairs}",
    "unpredicted classes": "the probabilities predict `{label}` worse than the shares of its "
    "classes do; their names say which class each is of",
    "parts of one": "{parts} add up to 1; if they are the probabilities of classes, write "
    "predictions.classes in place of score",
    "subset": "only rows with {where} are counted, of `{column}`: {shares}; {before}to watch the "
    "others too, write a model for each with its own predictions.where",
    "scale": "the score lies from 0 to 1 on {within} and reaches further on {day}, as if its scale "
    "had changed between; a run takes all days for {means}, so write an expression that gives one "
    "scale",
    "two horizons": "`{score}` says {ours} days and `{outcome}` {theirs}",
    "horizon": "`{name}` says {days} days, but the outcomes are there after {wait}; if a 0 can "
    "still become a 1 until then, write settled_after: {days}",
    "censored": "`{outcome}` says that the time of a row was cut short, not what happened; set "
    "outcomes.outcome to whether it happened within the horizon of the score",
    "duration": "`{outcome}` stands beside `{duration}`: a row without the event may only not "
    "have been watched long enough; the outcome is whether it happened within the horizon",
    "confidence": "`{score}` is never below 0.5 and stands beside `{label}`; if it is the "
    "probability of that label, write score_means: probability_of_label and predicted_label: "
    '"{label}"',
    "confidence of two": "`{score}` is never below 0.5, and `{one}` and `{other}` have the same "
    "two values; if it is the probability of one of them and the other is what came true, write "
    "score_means: probability_of_label, the first as predicted_label and the other as outcome",
    "twins": "upper and lower case do not differ in names, so none of {names} is read; rename all "
    "but one in the log",
}
REASONS = {
    "no log": "No log that could be the {section} was found: such as {section}/{{day}}.parquet.",
    "days": "Days {first} to {last}{missing}.",
    "a column dates": "The path names no day, so a column dates the rows{days}.",
    "explode": "Each record has a list of predictions; its elements are rows, from position 0.",
    "columns": "No file has a header, so these name the columns, in order: {like}.",
    "changed": "Tells that a row has changed, without reading whole rows.",
    "question": "The rows of the question {question}.",
    "which day": "The column that says the day of a row, a date, a time or ISO text; of another "
    "form such as 01/02/2026 write {{sql: \"strptime(NAME, '%d/%m/%Y')\"}}. {columns}",
    "which id": "The column, or a list of columns, that identifies a prediction in both logs; if "
    "both write it differently, also set ids: {{cast: integer}}, uuid or text. {columns}",
    "id": "Different in {unique} of the sampled rows, and {found} of {asked:,} predictions are "
    "found among the outcomes by it.",
    "twice": "The ids that repeat in the sample have the same score: delivered more than once.",
    "not a probability": "{name} may be the score that is meant, but is no probability: {how} "
    "If the score is {other}, write score: {other}.",
    "which classes": "{parts} add up to 1, so the model has several classes: write classes: "
    "{{names: [NAME, …], columns: [{parts}]}}, with the values of the outcome as names. If it has "
    "not, write score: COLUMN in place of classes.",
    "which score": "The column with the predicted probability, a number. {hints} {columns}",
    "classes": "These columns add up to 1.",
    "other scores": " Other columns that could be the score: {named}.",
    "of classes": "The classes {named}.",
    "weight": "Weights {values}, equal for all rows of an outcome: the log keeps only some rows.",
    "weights differ": "Weights {values}. Not set, because rows of one outcome have different ones.",
    "entity": "{again} of its sampled values are there on several of the sampled days, so rows of "
    "different days hang together.",
    "early": " Not set, because {early:,} sampled outcomes are earlier than their prediction.",
    "together": "The predictions have the outcome as a column, null until it is known.",
    "only log": "The only log that was found.",
    "refuted": "The column with what came true: no score predicts {name}, nor does its name say "
    "that it is the outcome. {columns} For other values than 0 and 1 add outcome_means: "
    "{{positive: [fraud], negative: [ok]}}.",
    "other outcomes": " Other columns that could be the outcome: {named}.",
    "mixed": " Some files have text, and others true and false.",
    "one of": "The column with what came true: one of {named}; the score predicts none of them as "
    "it stands, so it could not be measured which. {doubts}",
    "which outcome": "The column with what happened, 0 or 1. For other values add outcome_means: "
    "{{positive: [fraud], negative: [ok]}}; if the log holds only positives, such as clicks, write "
    "outcome: null and absent_means: negative after 7d. {columns}",
    "which word": "Which word of {name} means 1? {{positive: [{likely}], negative: [{other}]}} if "
    "the score is the probability of {likely}, or {{positive: [{other}], negative: [{likely}]}} "
    "if it is that of {other}.",
    "latest": "{conflicts:,} outcomes contradict another of their prediction; the latest counts.",
    "which is latest": "{conflicts:,} outcomes contradict another of their prediction, and no time "
    "says which is the latest. If the later one corrects the earlier, set outcomes.time to the "
    "column that says when an outcome was written and this key to latest. Else remove this line, "
    "and list outcome_conflicting under checks.reject.",
    "clicks": "Every outcome is 1, and {absent} of the predictions have none: a log of clicks, "
    "where absence means 0.",
    "cast": "The ids are {ours} in the predictions and {theirs} in the outcomes{same}.",
    "longer": " Other days of the week wait up to {days} days longer.",
    "zone": "The sampled predictions of each day have times from midnight to midnight at "
    "UTC{ahead:+d}, not at UTC. If the clocks of that place change, write its name, such as "
    "Europe/Berlin.",
    "weekdays": "There are {what} on all of these days of the week, and on no others.",
    "begins": "The log of outcomes begins on {day}.",
    "rounds": "Outcomes have come on {came} only, which is too short to see on which days of the "
    "week they come. Write them, as {{weekdays: [{weekday}]}}, or leave the key out if they come "
    "every day and files are missing.",
    "served": "The model that answered: calibration-monitor where says whether a drift sits in "
    "one.",
    "which rows": "{share} of the sampled ids are repeats, and no column says why. Write a filter "
    "such as model_version = 'v3', if the log holds several models; or replace this line by "
    "duplicates: keep_identical, if rows are delivered more than once; or add a column to the id "
    "in both logs.",
    "left out": "{rows:,} of {of:,} rows that were read: {check} is under checks.{answer}.",
    "gaps": "{gaps:,} days between the first and the last have no predictions.",
    "few": "Days without a positive outcome are normal at this volume.",
    "nothing came": "No outcome of the sampled predictions was found.",
    "arrivals": "Of the outcomes {of_what}: {shares} after the day of the prediction.",
    "end of the log": " The log ends {days} days after a sampled day: later ones are unknown.",
    "filled": "Predictions with an outcome, from the newest day back: {shares}; {usual} on older "
    "days.",
    "never filled": " It does not rise with age, so the others are not waited for.",
}
LACKING = {
    "twins": "has no score among what can be read: the names of {names} differ only in case; "
    "rename all but one in the log, then run init again.",
    "no prediction": "has one log with scores and outcomes, but the scores predict no column that "
    "may be the outcome; say which columns are the score and the outcome.",
    "no id": "has predictions and outcomes, but no column that both have and that tells "
    "predictions apart; a log of outcomes needs the ids of the predictions.",
    "no outcomes": "has predictions ({names}), but no outcomes; pass the folder of the outcomes "
    "too: calibration-monitor init PREDICTIONS OUTCOMES.",
    "no score": "has outcomes ({names}), but no column of the other logs is a number from 0 to 1; "
    "if one of them holds the score, write in the file how to read it.",
    "no predictions": "has columns that could be outcomes, but no scores (numbers from 0 to 1); "
    "pass the folder of the predictions too: calibration-monitor init PREDICTIONS OUTCOMES.",
    "neither": "has neither scores (numbers from 0 to 1) nor outcomes (0 or 1); pass the folder of "
    "your logs.",
}
CASES = 'write the probability that each stands for, {{sql: "CASE {written} WHEN {first} THEN 0.01 '
CASES += '… END"}}.'
HOW_TO_MAP = {
    "decision": "a decision and no probability: log the probability beside it.",
    "points": "points of a scorecard: write the probability that they stand for, "
    '{{sql: "1 / (1 + exp(({written} - offset) / factor))"}}, with the numbers of the scorecard.',
    "grades": f"grades: {CASES}",
    "letters": f"with grades such as {{shown}}: {CASES}",
    "mark": 'that is a number: write it as {{sql: "{number}"}}.',
    ",": 'with a decimal comma: write it as {{sql: "{number}"}}.',
    "%": 'with percent signs: write it as {{sql: "{number}"}}.',
    "other": "not a number from 0 to 1; write the probability that it stands for.",
}


def say(key: str, **facts: object) -> str:
    """Write a doubt, or the reason of a setting.

    Examples
    --------
    >>> say("two horizons", score="p_7d", ours=7, outcome="y", theirs=30)
    '`p_7d` says 7 days and `y` 30'
    """
    return (DOUBTS.get(key) or REASONS[key]).format(**facts).rstrip()


def say_lacking(key: str, **facts: object) -> str:
    """Say what is missing for a model, and what to do.

    Examples
    --------
    >>> say_lacking("no outcomes", names="scores.csv, score p")[:42]
    'has predictions (scores.csv, score p), but'
    """
    return LACKING[key].format(**facts)


def say_how_to_map(key: str, **facts: object) -> str:
    """Say how a column that is no probability becomes one.

    Examples
    --------
    >>> say_how_to_map("decision")
    'a decision and no probability: log the probability beside it.'
    """
    return HOW_TO_MAP[key].format(**facts)
