"""A search of Optuna in which sassan's estimate is the objective: no GPU is needed (`pip install optuna`, extras `cubin`, `nvrtc`).

Each trial compiles a filter whose threads compute WORK outputs each, and estimates its launch with some size of blocks on the GPU that is named.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import optuna

SOURCE = Path(__file__).resolve().parents[2] / "evolve" / "fir.cu"
OUTPUTS, TAPS = 1 << 20, 32
GPU = ["--gpu", "A100-PCIE-40GB", "--param", f"param_3={OUTPUTS}", "--param", f"param_4={TAPS}"]
TRIALS = int(sys.argv[1]) if len(sys.argv) > 1 else 6


def estimate(block: int, work: int) -> float:
    """Return the estimated time in us; raises TrialPruned where there is no estimate: what failed is on stderr."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / SOURCE.name
        source.write_text(f"#define WORK {work}\n{SOURCE.read_text(encoding='utf-8')}", encoding="utf-8")
        launch = ["--block-dim", str(block), "--grid", str(-(-OUTPUTS // (block * work)))]
        command = [sys.executable, "-m", "sassan", "estimate", str(source), *GPU, *launch, "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    answer = json.loads(done.stdout)["functions"][0]["estimate"] if done.returncode == 0 else None
    if answer is None:
        raise optuna.TrialPruned
    return float(answer["us"])


def objective(trial: optuna.Trial) -> float:
    """Estimate one choice."""
    return estimate(trial.suggest_categorical("BLOCK", [64, 128, 256, 512]), trial.suggest_categorical("WORK", [1, 2, 4, 8]))


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(objective, n_trials=TRIALS)
    print(f"{study.best_value:.1f} us", *(f"{name}={value}" for name, value in sorted(study.best_params.items())))
