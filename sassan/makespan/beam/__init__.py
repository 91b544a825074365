"""Beam search over slots: plain, compiled, and the engine."""
