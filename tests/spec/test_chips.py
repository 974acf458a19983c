"""Chips by their own names and by those of microcontrollers."""

import pytest

import bddtorque as bt
from bddtorque.spec.chips import chip_named, chip_names, chips

PRODUCTS = {
    "cortex-m0": ("stm32f0", "stm32g0", "rp2040", "samd21"),
    "cortex-m3": ("stm32f1",),
    "cortex-m4f": ("stm32f3", "stm32f4", "stm32g4", "nrf52"),
    "cortex-m7": ("stm32h7",),
    "cortex-m33": ("rp2350",),
    "generic32": ("esp32", "esp32-s3"),
    "rv32imc": ("esp32-c3",),
    "avr": ("atmega328p",),
}


def test_microcontrollers_stand_for_their_cores():
    for core, products in PRODUCTS.items():
        assert [chip_named(product).name for product in products] == [core] * len(products)
    assert len(chip_names()) == len(chips()) + sum(map(len, PRODUCTS.values()))


def test_a_spec_keeps_the_core():
    spec = bt.Spec(robot="planar2r", target="integer", chip="rp2350")
    assert spec.chip == "cortex-m33"


@pytest.mark.parametrize(("given", "meant"), [("rp2400", "rp2040"), ("stm32h8", "stm32h7"), ("cortex-m8", "cortex-m")])
def test_a_name_that_is_near_is_proposed(given, meant):
    with pytest.raises(bt.BddTorqueError, match=f"did you mean '{meant}"):
        bt.Spec(robot="planar2r", target="integer", chip=given)
