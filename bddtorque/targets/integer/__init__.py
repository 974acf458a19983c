"""Target ``integer``: machine integers with the multiplier of the chip."""
