"""The exact engine: longest paths over states, over sums of work, and a depth-first search for a goal."""
