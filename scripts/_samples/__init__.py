"""Helpers of ``scripts/build_samples``: tools, goldens and the table of constructs."""
