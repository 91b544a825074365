"""What the program of `sassan measure --assumptions` prints, made up: an Orin at 30 W that behaves."""

from collections.abc import Mapping

GPU = "Jetson AGX Orin 64GB, 30W"
FIGURES: Mapping[str, tuple[float, float, float]] = {
    "clock_mhz": (611.2, 612.0, 612.3),
    "latency_global": (410, 480, 655),
    "latency_shared": (28, 28, 29),
    "latency_sfu": (17.1, 17.3, 23.2),
    "latency_fence": (500, 512, 903),
    "dram_gb_per_s": (163.9, 170, 175),
    "dram_gb_per_s_shared": (120.2, 125, 130),
    "latency_global_shared": (420, 600, 1310),
    "cpu_gb_per_s": (38.5, 38.5, 38.5),
    "l2_bytes_per_cycle": (301.7, 310, 320),
    "launch_us": (3.1, 3.4, 5.21),
    "between_us": (1.9, 2.2, 4.4),
    "between_in_graph_us": (1.1, 1.3, 1.9),
    "block_cycles": (20, 21, 23),
}


def answers(figures: Mapping[str, tuple[float, float, float]] = FIGURES, **head: str) -> str:
    """Return the text that the program prints; `head` has other lines of its head."""
    known = {"device": '"Orin"', "architecture": '"sm_87"', "sms": "8", "driver": '"12.6"', "runtime": '"12.6"', "date": '"2026-11-29"'}
    lines = [f"{key} = {value}" for key, value in {"schema": "1", **known, **head}.items()]
    for name, (least, median, most) in figures.items():
        lines.append(f"[figure.{name}]\nleast = {least}\nmedian = {median}\nmost = {most}\nruns = 199")
    return "\n".join(lines) + "\n[end]\ncomplete = true\n"
