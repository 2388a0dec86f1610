"""What `init` knows about logs that nobody has described yet.

`samples` look at folders, turn names of files into path templates, and describe the columns of a
sample of rows; `roles` say what each column could be, by names, content and the rows that both
logs have. `databases`, `lists` and `parts` make logs of what is no file a day, `pairing` puts the
logs of a model together, `settings` gives every setting its reason, `unfinished` says what a
person has to decide, and `text` writes all as YAML. Everything that is read is bounded.
"""

from monitor.logs.discovery.guess import Guess, Guesses, guess, with_check, with_doubts
from monitor.logs.discovery.settings import Setting
from monitor.logs.discovery.text import configuration

__all__ = ["Guess", "Guesses", "Setting", "configuration", "guess", "with_check", "with_doubts"]
