"""Target ``float``: IEEE binary32 and binary64, with proved rounding errors."""
