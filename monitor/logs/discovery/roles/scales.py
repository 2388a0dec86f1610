"""Whether the scores of the sampled days have one scale: a release may turn them into percent."""

from monitor.logs.discovery.roles.candidates import Candidate
from monitor.logs.discovery.samples.columns import number_in
from monitor.logs.discovery.samples.reading import PARTITION, Log
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session

LEAST_ROWS = 100  # of a day
FAR = 10.0  # how far scores reach that are no probabilities


def about_scale(session: Session, log: Log, score: Candidate) -> list[str]:
    """Say which sampled day has probabilities where the scores of another are something else.

    Parameters
    ----------
    session : Session
        Has the sample.
    log : Log
        The predictions.
    score : Candidate
        The column that is taken for the score.
    """
    means = score.settings.get("score_means")
    if not log.days or means not in ("percent", "logit"):
        return []
    value = f"try_{number_in(quoted(score.column), score.mark)}"
    days = session.connection.execute(
        f"SELECT {quoted(PARTITION)}::VARCHAR AS day, min({value}), max({value}) "
        f"FROM {log.table} GROUP BY 1 HAVING count({value}) >= ? ORDER BY 1",
        [LEAST_ROWS],
    ).fetchall()
    within = [day for day, least, greatest in days if least >= 0 and greatest <= 1]
    reach = {day: max(-least, greatest) for day, least, greatest in days}
    other = [day for day in reach if day not in within and (means == "logit" or reach[day] >= FAR)]
    if not within or not other:
        return []
    doubt = (
        f"`{score.column}` lies from 0 to 1 on {within[0]} and reaches {reach[other[0]]:.3g} on "
        f"{other[0]}, as if its scale had changed between; a run takes all days for {means}, so "
        f"write an expression that gives one scale"
    )
    return [doubt]
