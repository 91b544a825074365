"""What loads find in L1: where it keeps every sector, that is what a cache that drops the oldest finds."""

import numpy as np
import pytest

from sassan.estimate.accesses import l1
from sassan.estimate.warps import sample
from sassan.estimate.watch import Executions

CHOSEN = sample((64, 1, 1), (8, 1, 1))


def loads(seed: int) -> dict[tuple[int, int], Executions]:
    random = np.random.default_rng(seed)
    out = {}
    for at in range(3):
        count = 40
        addresses = (4 * random.integers(0, 400, (count, 32))).astype(np.uint32)
        warps = random.integers(0, len(CHOSEN), count)
        out[16 * at, 0] = Executions(warps, np.arange(count, dtype=np.uint32), addresses, random.random((count, 32)) < 0.8)
    return out


@pytest.mark.parametrize("seed", range(4))
def test_a_cache_that_keeps_all_is_one_that_drops_nothing(seed: int, monkeypatch: pytest.MonkeyPatch):
    some = loads(seed)
    quick = l1.fresh(some, CHOSEN, 1e6)
    monkeypatch.setattr(l1, "_most", lambda *_: 1e9)
    assert l1.fresh(some, CHOSEN, 1e6) == quick
    assert any(0 < share < 1 for share in quick.values())
    assert l1.fresh(some, CHOSEN, 2.0) != quick
