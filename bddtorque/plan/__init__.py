"""The cascade: a graph covered with blocks of few input bits, and the error it is proved to keep."""
