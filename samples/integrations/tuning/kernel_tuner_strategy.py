"""A strategy of Kernel Tuner: measure first what sassan estimates to be fastest (`pip install kernel-tuner`).

    sassan rank matmul.toml --gpu T4 -o ranking.json
    tune_kernel(…, strategy=BestEstimates("ranking.json"), strategy_options={"max_fevals": 10})

Run as a program, it takes such a ranking and a cache file of Kernel Tuner, whose times stand for the GPU, and prints what was measured:

    python kernel_tuner_strategy.py ranking.json cache.json --measure 10
"""

import argparse
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import kernel_tuner
from constraint import FunctionConstraint
from kernel_tuner.strategies.common import CostFunc
from kernel_tuner.util import StopCriterionReached


class BestEstimates:
    """Measures the choices of a search space in the order of their estimates, until `max_fevals` of them or the time limit is reached.

    Choices without an estimate, or outside the ranking, come last, in the order of the space.
    """

    def __init__(self, ranking: str | Path) -> None:
        """Take a ranking as `sassan rank -o X.json` writes it."""
        configurations = json.loads(Path(ranking).read_text(encoding="utf-8"))["configurations"]
        self._estimated = [one["parameters"] for one in configurations if one["estimate_us"] is not None]

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> list[dict[str, Any]]:  # Kernel Tuner has no types
        """Return the results of Kernel Tuner, in the order of measurement."""
        names = list(searchspace.tune_params)
        places = {tuple(one.get(name) for name in names): place for place, one in enumerate(self._estimated)}
        first = sorted(searchspace.list, key=lambda choice: places.get(tuple(choice), len(places)))
        cost = CostFunc(searchspace, tuning_options, runner)
        with suppress(StopCriterionReached):  # the time limit: what was measured until then stands
            cost.eval_all(first[: tuning_options.get("max_fevals", len(first))], check_restrictions=False)
        return cost.results


def main() -> None:
    """Let the times of a cache file stand for a GPU, and measure the best estimates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranking", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--measure", type=int, default=10, metavar="K")
    options = parser.parse_args()
    cache = json.loads(options.cache.read_text(encoding="utf-8"))
    names = cache["tune_params_keys"]
    results, _ = kernel_tuner.tune_kernel(
        cache["kernel_name"],
        "",
        cache["problem_size"],
        [],
        cache["tune_params"],
        restrictions=[FunctionConstraint(lambda *choice: ",".join(map(str, choice)) in cache["cache"])],
        lang="CUDA",
        cache=str(options.cache),
        simulation_mode=True,
        strategy=BestEstimates(options.ranking),
        strategy_options={"max_fevals": options.measure},
        quiet=True,
    )
    for result in results:
        print(f"{result['time']:.4f} ms", *(f"{name}={result[name]}" for name in names))


if __name__ == "__main__":
    main()
