"""What `init` knows about logs that nobody has described yet.

A search over configurations. `listing`, `naming`, `reading`, `profile`, `within` and `gathering`
make logs of folders, tables and queries, read a bounded sample of each with the reader of runs,
and describe its columns. `rules` say what a column may be; `keys`, `arrivals`, `classes` and
`evidence` measure on the rows of both logs which candidates fit; `pairing` puts the best together,
`settings` gives each setting its reason, `trying` adds those
that the reader of runs finds on some days, and `text` writes them as YAML.
"""

from monitor.logs.discovery.guess import Guess, Guesses, guess
from monitor.logs.discovery.pairing import Setting
from monitor.logs.discovery.text import configuration

__all__ = ["Guess", "Guesses", "Setting", "configuration", "guess"]
