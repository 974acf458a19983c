"""Functions of one to four words given as data: friction laws, interpolants, samples."""
