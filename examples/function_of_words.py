"""A function that has nothing to do with robots: the temperature of a thermistor, from the word of a converter.

A 10 kΩ thermistor (B = 3950 K, 25 °C) and a 10 kΩ resistor share 3.3 V; a 12-bit converter reads the voltage between
them. The temperature is 1/(1/T0 + ln(R/R0)/B): a logarithm and divisions, slow on a small microcontroller. The table
has no arithmetic at all, and its certificate says how far it is from the float values of this function, for every word
of the converter.

    python examples/function_of_words.py
"""

from __future__ import annotations

import math
from pathlib import Path

import bddtorque as bt

R0, T0, B, SUPPLY = 10e3, 298.15, 3950.0, 3.3
RESISTOR = 10e3


def celsius(volts: float) -> float:
    """Return the temperature at a voltage of the divider; the ends of the scale are an open or a shorted sensor."""
    volts = min(max(volts, 0.05), SUPPLY - 0.05)
    resistance = RESISTOR * volts / (SUPPLY - volts)
    return 1.0 / (1.0 / T0 + math.log(resistance / R0) / B) - 273.15


def main(folder: Path | None = None) -> bt.Model:
    """Compile the thermistor, show its certificate, read it, and save it if a folder is given."""
    model = bt.compile_function(
        celsius,
        inputs={"volts": (12, (0.0, SUPPLY), "V")},
        output={"temperature": (12, (-50.0, 170.0), "°C")},
        name="thermistor",
        assumed_error=1e-9,  # libm's logarithm and the divisions: far less than this
    )
    print(model)
    print(model.certificate)
    for word in (-1024, 0, 1024):
        volts = model.formats.words["volts"].dequantise(word)
        read = model.formats.results["temperature"].dequantise(model.words(word))
        print(f"converter word {word:6d} ({float(volts):.4f} V): {float(read):7.2f} °C, exactly {celsius(volts):7.2f}")
    print(f"largest error over all 4096 words: {model.error_of(celsius):.4f} units")
    if folder is not None:
        model.save(folder / "thermistor.bdt")
    return model


if __name__ == "__main__":
    main()
