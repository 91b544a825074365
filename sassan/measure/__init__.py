"""Timing samples of kernels: estimators with confidence intervals, plots, and the runner that takes samples on a GPU.

    samples = measure(device, MeasureTask(cubin, "kernel", grid, block, arguments), MeasurePlan(runs=20))
    least = minimum(samples.groups[0].seconds)

`Gpu()` of `sassan.measure.sampling.gpu` is the device of this machine; any implementation of the protocol `Device` can replace it.
"""

from sassan.measure.estimators import Estimator, estimate
from sassan.measure.samples import SampleGroup, Samples
from sassan.measure.sampling.device import Device, LoadedKernel, MeasureArgument, MeasureTask, Timing
from sassan.measure.sampling.runner import Clock, MeasurePlan, groups, measure

__all__ = [
    "Clock",
    "Device",
    "Estimator",
    "LoadedKernel",
    "MeasureArgument",
    "MeasurePlan",
    "MeasureTask",
    "SampleGroup",
    "Samples",
    "Timing",
    "estimate",
    "groups",
    "measure",
]
