"""The names of report pages in their folder, for those who write, serve or link to them."""

REPORT_INDEX = "index.html"


def report_page(model: str) -> str:
    """Name the page of a model.

    Examples
    --------
    >>> report_page("fraud")
    'models/fraud.html'
    """
    return f"models/{model}.html"
