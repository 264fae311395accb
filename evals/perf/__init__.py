"""Speed and size of a corpus, beside what its parts do alone in the same process: `citewise eval perf`."""
