"""What `init` knows about logs that nobody has described yet.

`listing` looks at a folder, `naming` turns names of files into path templates, `reading` samples
rows, `columns` describes them, `roles` says what each column could be, `keys` and `arrivals` join
the logs, `pairing` puts the logs of a model together, `settings` gives every setting its reason,
and `text` writes them as YAML. Everything that is read is bounded.
"""

from monitor.logs.discovery.guess import Guess, Guesses, guess, with_check, with_doubts
from monitor.logs.discovery.settings import Setting
from monitor.logs.discovery.text import configuration

__all__ = ["Guess", "Guesses", "Setting", "configuration", "guess", "with_check", "with_doubts"]
