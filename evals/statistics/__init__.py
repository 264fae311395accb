"""Statistics of runs: clustered intervals, paired differences, corrected p-values, shrunken slices, power."""
