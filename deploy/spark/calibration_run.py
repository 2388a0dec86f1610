"""The program that spark-submit starts on a cluster: calibration-monitor with its arguments.

spark-submit needs a file. The machine that it starts the driver on needs calibration-monitor.
"""

from importlib.metadata import entry_points

if __name__ == "__main__":
    (program,) = entry_points(group="console_scripts", name="calibration-monitor")
    program.load()()
