"""The former name of `python -m monitor.pipeline.runs.compiling`, which it runs."""

import sys

from monitor.pipeline.runs.compiling import main

if __name__ == "__main__":
    sys.stderr.write("monitor.demo.compiling is now monitor.pipeline.runs.compiling.\n")
    main()
