"""The Boolean/BDD paper: its one-bit processor, and the word-wide one that it is compared with."""
