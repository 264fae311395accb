"""What scores say: summaries, comparisons, gates, and how many cases it takes."""
