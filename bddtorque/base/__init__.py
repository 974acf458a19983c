"""What every layer needs and none of them owns: errors, files, plain data, Numba's decorators."""
