"""The one-bit processor of the Boolean/BDD paper, section IV, and the word-wide one that it is compared with."""
