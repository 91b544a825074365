"""All choices of a space, or of the cache of a tuner, in the order of their estimated times."""
