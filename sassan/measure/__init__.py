"""Timing samples of kernels: estimators with confidence intervals, pictures, and the runner that takes them on a GPU.

    samples = measure(device, Task(cubin, "kernel", grid, block, arguments), Plan(runs=20))
    least = minimum(samples.groups[0].seconds)

`Gpu()` of `sassan.measure.gpu` is the device of this machine; anything that keeps the contract `Device` can stand for it.
"""

from sassan.measure.device import Argument, Device, Loaded, Task, Timing
from sassan.measure.estimators import Estimator, estimate, minimum
from sassan.measure.runner import Clock, Plan, groups, measure
from sassan.measure.samples import Group, Samples

__all__ = [
    "Argument",
    "Clock",
    "Device",
    "Estimator",
    "Group",
    "Loaded",
    "Plan",
    "Samples",
    "Task",
    "Timing",
    "estimate",
    "groups",
    "measure",
    "minimum",
]
