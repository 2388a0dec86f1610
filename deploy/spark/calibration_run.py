"""The program that spark-submit starts on a cluster: calibration-monitor with its arguments.

spark-submit needs a file. The machine that it starts the driver on needs calibration-monitor.
"""

from monitor.cli import main

if __name__ == "__main__":
    main()
