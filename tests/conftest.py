"""Settings of every test: the same examples in every run, no deadline on a busy machine, interrupts as a terminal sends them."""

import gc
import signal

from hypothesis import settings

settings.register_profile("sassan", derandomize=True, deadline=None)
settings.load_profile("sassan")

# A job in the background of a shell ignores SIGINT, and what it starts does so, too: tests that interrupt a process would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is read once for many tests lives as long as the process: looking through it for garbage again and again takes a tenth of the time.
gc.set_threshold(50_000, 20, 50)
