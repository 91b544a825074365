"""Small synthetic recordings: a cache of Kernel Tuner, T4 and KTT results, CSV of Nsight Compute."""

from typing import Any

CACHE: dict[str, Any] = {
    "device_name": "Synthetic A100",
    "kernel_name": "scale",
    "problem_size": [4096, 2],
    "tune_params_keys": ["block", "unroll"],
    "tune_params": {"block": [32, 64], "unroll": [1, 2]},
    "objective": "time",
    "cache": {
        "32,1": {"block": 32, "unroll": 1, "time": 2.0, "times": [1.5, 2.0, 2.5], "GFLOP/s": 7.5},
        "32,2": {"block": 32, "unroll": 2, "time": "CompilationFailedConfig"},
        "64,1": {"block": 64, "unroll": 1, "time": 4.0, "times": [4.0, 4.0]},
    },
}
T4: dict[str, Any] = {
    "schema_version": "1.0.0",
    "metadata": {"timeunit": "microseconds", "device": "Synthetic A100"},
    "results": [
        {"configuration": {"block": 32}, "times": {"runtimes": [2000.0, 3000.0]}, "invalidity": "correct", "correctness": 1},
        {"configuration": {"block": 64}, "times": {"runtimes": []}, "invalidity": "runtime", "correctness": 0},
        {"configuration": {"block": 96}, "times": {"runtimes": [1.0]}, "invalidity": "correct", "correctness": 0},
    ],
}
COMPUTATION = {
    "KernelFunction": "scale",
    "Duration": 1500.0,
    "GlobalSize": {"X": 128, "Y": 1, "Z": 1},
    "LocalSize": {"X": 32, "Y": 1, "Z": 1},
}
KTT: dict[str, Any] = {
    "Metadata": {"TimeUnit": "Microseconds", "GlobalSizeType": "CUDA", "Device": "Synthetic A100", "KttVersion": "2.1"},
    "Results": [
        {
            "KernelName": "scale",
            "Status": "Ok",
            "TotalDuration": 1600.0,
            "ExtraDuration": 100.0,
            "Configuration": [{"Name": "block", "Value": 32}, {"Name": "ratio", "Value": 0.5}],
            "ComputationResults": [COMPUTATION],
        },
        {
            "KernelName": "scale",
            "Status": "ValidationFailed",
            "TotalDuration": 5.0,
            "Configuration": [{"Name": "block", "Value": 64}, {"Name": "ratio", "Value": 0.5}],
            "ComputationResults": [],
        },
    ],
}
HEAD = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'
DETAILS = f'{HEAD},"Section Name","Metric Name","Metric Unit","Metric Value"\n'


def details(*metrics: tuple[str, str, str], identity: int = 0) -> str:
    start = f'"{identity}","1","p","h","scale","1","7","(256, 1, 1)","(4, 1, 1)","0","8.6"'
    return "".join(f'{start},"S","{name}","{unit}","{value}"\n' for name, unit, value in metrics)


def raw(*columns: tuple[str, str, str]) -> str:
    names, units, values = (",".join(f'"{column[index]}"' for column in columns) for index in range(3))
    return (
        f"==PROF== Connected to process 1\n{HEAD},{names}\n"
        f"{','.join(chr(34) * 2 for _ in range(11))},{units}\n"
        f'"0","1","p","h","scale","1","7","(256, 1, 1)","(4, 1, 1)","0","8.6",{values}\n'
    )
