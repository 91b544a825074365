"""The concrete SIMT machine: the machine of docs/concepts/warp-machine.md executed by 32 real threads, many runs at once."""
