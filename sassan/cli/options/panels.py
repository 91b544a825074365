"""The groups in which --help lists the options of a command."""

from enum import StrEnum


class Panel(StrEnum):
    """A group of options, by its heading; help lists the groups in this order, behind the options without one."""

    TASK = "Task"
    LIMITS_OF_TIME = "Limits of time"
    LIMITS_OF_CODE = "Limits of code"
    BASELINE = "Baseline"
    SM = "Warps and the SM"
    SEARCH = "Search"
    LAUNCH = "Launch"
    GPU = "GPU"
    LOOPS = "Loops and paths"
    COSTS = "Costs"
    EXECUTION = "Execution"
    INPUT = "Input"
    OUTPUT = "Output"
    RESOURCES = "Time and memory of the command"
    PAPERS = "Experiments of papers"
