"""Builds compared: saved results, differences, gates, baselines."""
