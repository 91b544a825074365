"""The evolutionary compiler: choices that keep the result of a program, searched for the lowest cost."""
