"""The corpus of science: every law is read, is defined on its ranges, and has units that agree."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.science import Law, field_names, load_field, load_laws
from flash_ansr.catalogues.science.laws import law_from
from flash_ansr.catalogues.science.units import check_units
from simplipy import parse

ROWS = 300
FORCE, MASS = "F: force [N]", "m: mass [kg] log(1, 9)"
ACCELERATION = "a: acceleration [m/s^2] log(1, 9)"


def law(text: str, *lines: str, **more: object) -> Law:
    where = dict(line.split(": ", 1) for line in lines)
    return law_from("field", "key", {"name": "A law", "law": text, "where": where, **more})


@pytest.mark.parametrize("field", field_names())
def test_laws_are_defined_on_their_ranges_and_not_constant(field: str) -> None:
    for known in load_field(field):
        columns, y = known.sample(ROWS, np.random.default_rng(0))
        assert np.isfinite(y).mean() > 0.98, known.key
        assert np.ptp(y[np.isfinite(y)]) > 0, known.key
        assert known.variables, known.key
        assert set(columns) == set(known.expression.variables), known.key


@pytest.mark.parametrize("field", field_names())
def test_units_agree(field: str) -> None:
    checked = [known for known in load_field(field) if not known.is_empirical]
    for known in checked:
        check_units(known)
    assert len(checked) > 0.8 * len(load_field(field))


def test_the_corpus_is_large_and_diverse() -> None:
    laws = load_laws()
    assert len(laws) >= 1750
    assert len({(known.field, known.key) for known in laws}) == len(laws)
    assert len({known.form() for known in laws}) >= 1000


def test_a_form_forgets_names_and_numbers() -> None:
    decay = law("n = n0*exp(-t/tau)", "n: number [1]", "t: time [s] uniform(0, 9)", "n0: number [1] fitted log(1, 9)",
                "tau: lifetime [s] fitted log(1, 9)")  # fmt: skip
    growth = law(
        "m = k*exp(r*z)",
        "m: mass [1]",
        "k: scale [1] = 3",
        "z: time [s] uniform(0, 9)",
        "r: rate [1/s] fitted log(1, 9)",
    )
    assert decay.form() == growth.form()
    assert decay.variables == ("t",)


@pytest.mark.parametrize(
    ("text", "lines", "message"),
    [
        ("F = m*v + m*a", (FORCE, MASS, "v: speed [m/s] log(1, 9)", ACCELERATION), "a sum of"),
        ("F = max(m*a, m)", (FORCE, MASS, ACCELERATION), "the max of"),
        ("y = exp(t)", ("y: ratio [1]", "t: time [s] log(1, 9)"), "the argument of exp has"),
        ("y = 2^t", ("y: ratio [1]", "t: time [s] log(1, 9)"), "an exponent has"),
        ("F = m*a", ("F: energy [J]", MASS, ACCELERATION), "the target"),
        ("F = m*a", (FORCE, "m: mass [kgg] log(1, 9)", ACCELERATION), "unknown unit 'kgg'"),
    ],
)
def test_units_that_do_not_agree_are_refused(text: str, lines: tuple[str, ...], message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        check_units(law(text, *lines))


def test_exponents_that_are_quantities_may_cancel() -> None:
    lines = ("v: ratio [1]", "S: amount [mol] log(1, 9)", "K: amount [mol] fitted log(1, 9)",
             "n: exponent [1] fitted uniform(1, 4)")  # fmt: skip
    check_units(law("v = S^n/(K^n + S^n)", *lines))
    with pytest.raises(CatalogueError, match="a sum of"):
        check_units(law("v = S^n/(K + S^n)", *lines))


@pytest.mark.parametrize(
    ("text", "lines", "more", "message"),
    [
        ("y = a*x", ("y: result [1]", "x: input [1] log(1, 9)"), {}, "'a' stands in the law and is not described"),
        ("y = x", ("y: result [1]", "x: input [1] log(1, 9)", "z: input [1] log(1, 9)"), {}, "'z' is described"),
        ("y = x", ("z: result [1]", "x: input [1] log(1, 9)"), {}, "the first quantity must be the target 'y'"),
        ("y = x", ("y: result [1]", "x: input [1]"), {}, "'x' needs a range"),
        ("y = x", ("y: result [1]", "x: input"), {}, "must be 'meaning \\[unit\\]'"),
        ("y + x", ("y: result [1]",), {}, "a law is written 'target = formula'"),
        ("y = sin(", ("y: result [1]",), {}, "field: key"),
        ("y = x", ("y: result [1]", "x: input [1] log(1, 9)"), {"unit": "m"}, "unknown key 'unit'"),
    ],
)
def test_mistakes_are_named(text: str, lines: tuple[str, ...], more: dict[str, object], message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        law(text, *lines, **more)


@pytest.mark.parametrize(
    ("key", "values", "expected"),
    [
        ("short_dipole_resistance", {"l": 0.1, "d": 1}, 80 * np.pi**2 * 0.01),
        ("small_loop_resistance", {"n": 1, "A": 0.01, "d": 1}, 320 * np.pi**4 * 1e-4),
        ("skin_resistance", {"l": 1, "d": 1e-3, "f": 1e6, "rho": 1.68e-8}, 1.68e-8 / (np.pi * 1e-3 * 65.2e-6)),
        ("phase_inductance", {"D": 1, "r": 0.01}, 2e-7 * np.log(100 / np.exp(-0.25))),
        ("two_wire_impedance", {"er": 1, "D": 0.01, "d": 0.001}, 276 * np.log10(20)),
        ("two_horizons", {"h1": 100, "h2": 25, "k": 4 / 3}, 4120 * (10 + 5)),
        ("free_space_loss", {"r": 1e4, "d": 0.299792458}, 32.45 + 20 * np.log10(10) + 20 * np.log10(1000)),
        ("transformer_voltage", {"f": 50, "n": 100, "B": 1.2, "A": 0.01}, 4.44 * 50 * 100 * 1.2 * 0.01),
        ("photodiode", {"l": 1.24e-6, "a": 0.8}, 0.8),
        ("timer_555", {"R1": 1e4, "R2": 1e5, "C": 1e-7}, 1.44 / (2.1e5 * 1e-7)),
        ("rise_time", {"B": 1e8}, 0.35 / 1e8),
        ("inverter_fundamental", {"m": 1, "Ud": 600}, 0.612 * 600),
        ("six_pulse", {"E_": 400, "a": 0, "X": 0, "I": 10}, 1.35 * 400),
        ("four_point_probe", {"d": 1e-6, "U": 1e-3, "I": 1e-3}, 4.53e-6),
        ("bpsk_error", {"s": 10**0.96}, 1e-5),
        ("paschen", {"p": 101325, "d": 1e-3, "A": 11.25, "B": 273.8, "g": 0.01}, 5000),
    ],
)
def test_prefactors_are_those_of_textbooks(key: str, values: dict[str, float], expected: float) -> None:
    known = {law.key: law for law in load_field("electrical_engineering")}[key]
    constants = {q.name: q.value for q in known.quantities if q.value is not None}
    columns = {name: np.array([float(value)]) for name, value in (constants | values).items()}
    assert known.expression(columns)[0] == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        # unfolding takes up heat: folded below the melting point, unfolded above
        ("biochemistry.thermal_melting", {"T": 320, "Tm": 330, "dH": 3e5}, 0.03177),
        ("biochemistry.thermal_melting", {"T": 340, "Tm": 330, "dH": 3e5}, 0.9614),
        # long binding reaches c/(Kd + c), with Kd = koff/kon
        ("biochemistry.spr_association", {"t": 1e9, "c": 50, "Rmax": 100, "kon": 1e-4, "koff": 5e-3}, 50),
        # the symmetry number divides the whole sum
        ("statistical_quantum.partition_rotor", {"T": 300, "s": 2, "th": 3}, (100 + 1 / 3) / 2),
        # glucose is excreted above the threshold only
        ("physiology.renal_threshold", {"x": 200, "T": 350}, 0),
        ("physiology.renal_threshold", {"x": 500, "T": 350}, 150),
    ],
)
def test_values_are_those_of_textbooks(name: str, values: dict[str, float], expected: float) -> None:
    field, key = name.split(".")
    known = {law.key: law for law in load_field(field)}[key]
    constants = {q.name: q.value for q in known.quantities if q.value is not None}
    columns = {name: np.array([float(value)]) for name, value in (constants | values).items()}
    assert known.expression(columns)[0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "smaller", "larger"),
    [
        ("climate.humidex", "Td", "T"),
        ("physiology.anion_gap", "0", "g"),
        # no wave on a line is faster than light
        ("electrical_engineering.natural_power", "1/sqrt(l*c)", "299792458"),
        ("electrical_engineering.ferranti", "1/sqrt(l*c)", "299792458"),
        ("electrical_engineering.lossy_impedance", "1/sqrt(L*C)", "299792458"),
        ("electrical_engineering.loss_at_power", "V", "P"),
        ("electromagnetism.friis", "P", "Pt"),
        # the mass of the electron
        ("electromagnetism.cyclotron_radius", "9e-31", "m"),
        # a text has at least as many words as distinct words
        ("statistics.heaps", "V", "n"),
        # no body has less surface than a sphere of its volume
        ("mechanical_engineering.chvorinov", "(36*pi)^(1/3)*V^(2/3)", "A"),
        # the joint of a bolt stays closed
        ("mechanical_engineering.bolt_stiffness", "c*q/(k + c)", "P"),
        # the payment of a loan exceeds its interest
        ("economics.remaining_debt", "r*P", "C"),
        # moments of inertia about the pivot, and of a body within its rolling radius
        ("mechanics.physical_pendulum", "m*d^2", "J"),
        ("mechanics.rolling_incline", "J", "m*r^2"),
    ],
)
def test_usual_values_can_occur_together(name: str, smaller: str, larger: str) -> None:
    field, key = name.split(".")
    known = {law.key: law for law in load_field(field)}[key]
    columns, y = known.sample(ROWS, np.random.default_rng(0))
    columns[known.target.name] = y
    assert np.all(parse(smaller)(columns) <= parse(larger)(columns) * (1 + 1e-9))


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(CatalogueError, match="there is no field 'alchemy'; fields are: acoustics"):
        load_field("alchemy")
