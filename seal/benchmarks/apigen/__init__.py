"""APIGen, the data set xlam-function-calling-60k."""
