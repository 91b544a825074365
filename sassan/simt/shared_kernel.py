"""The compiled load of shared memory (`shared.py`). Importing this module imports the compiler."""

import numpy as np
import numpy.typing as npt

from sassan.jit.decorators import uncounted
from sassan.simt.values import LANES, Rows, Truth, Words

Threads = npt.NDArray[np.int32]


@uncounted
def load(  # noqa: PLR0913, PLR0917 - a compiled function makes no tuple of what it is given
    rows: Rows,
    reading: Truth,
    address: Words,
    blocks: Rows,
    lost: Truth,
    racy: Truth,
    word: Words,
    sure: Truth,
    late: Words,
    late_sure: Truth,
    readers: Threads,
    writers: Threads,
    no_thread: int,
    words: Words,
    known: Truth,
) -> None:
    """Write the words that certainly stand at addresses into `words`, and where they do into `known` (G, 32), both zero before.

    The other arrays are those of `SharedMemory`: of the blocks (blocks, places), `readers` and `writers` with the first and the last
    thread of each; `racy` says of each place whether it is one of those.
    """
    for group in range(len(rows)):
        block = blocks[rows[group]]
        if lost[block]:
            continue
        for lane in range(LANES):
            place = np.int64(address[group, lane]) >> 2
            if not reading[group, lane] or place >= word.shape[1]:
                continue
            thread = np.int32(rows[group] * LANES + lane)
            is_own = writers[0, block, place] == thread and writers[1, block, place] == thread
            is_sure = (is_own and late_sure[block, place]) or (writers[0, block, place] == no_thread and sure[block, place])
            words[group, lane] = late[block, place] if is_own else word[block, place]
            if is_sure and not racy[place]:
                known[group, lane] = True
                readers[0, block, place] = min(readers[0, block, place], thread)
                readers[1, block, place] = max(readers[1, block, place], thread)
