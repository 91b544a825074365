"""The evolutionary compiler: choices that keep the result of a kernel, searched for the one with the least static cost (README.md)."""
