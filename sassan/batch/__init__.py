"""Many inputs over an executor: streamed to JSON Lines, resumable, one bad file never stops the rest."""
