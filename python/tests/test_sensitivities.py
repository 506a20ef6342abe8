"""Derivatives and fits."""

import gyrator
import numpy as np
import pytest


def test_a_ball(ball):
    g, e, stop = 9.81, 0.8, 0.8
    found = ball.sensitivities(["e", "g", "h0"], ["h", "v"], stop=stop, tolerance=1e-9)
    fall, w = np.sqrt(2 / g), np.sqrt(2 * g)
    s = stop - fall
    assert found["h", "e"][-1] == pytest.approx(w * s, rel=1e-6)
    assert found["v", "h0"][-1] == pytest.approx(e * w / 2 + g * fall / 2, rel=1e-6)
    assert found.values.shape == (len(found.time), 2, 3)
    pytest.importorskip("xarray")
    assert float(found.to_xarray().sel(variable="h", parameter="e")[-1]) == found["h", "e"][-1]


def test_every_variable_that_changes_without_a_choice(decay):
    found = decay.sensitivities(["k"], stop=1, tolerance=1e-9)
    assert {"x[1]", "y"} <= set(found.variables)
    assert found["y", "k"][-1] == pytest.approx(-3 * np.exp(-2), rel=1e-6)


def test_a_change_of_structure():
    # Two inertias that a clutch joins at T: their common speed does not depend on when, the way of the first one does.
    model = gyrator.loads(
        "model Clutch parameter Real J1 = 1, J2 = 2, M = 0.5, T = 1.3;"
        " Real phi(start = 0, fixed = true), w1(start = 1, fixed = true), w2(start = 1.5, fixed = true), tau1, tau2;"
        " equation der(phi) = w1; J1*der(w1) = M + tau1; J2*der(w2) = tau2; tau1 + tau2 = 0;"
        " if time >= T then w1 = w2; else tau1 = 0; end if; end Clutch;"
    )
    found = model.sensitivities(["J1", "M", "T"], ["w1", "phi"], stop=2, tolerance=1e-9)
    j, w = 3.0, lambda t: (4 + 0.5 * t) / 3
    assert found["w1", "J1"][-1] == pytest.approx((1 - w(2)) / j, rel=1e-6)
    assert found["w1", "M"][-1] == pytest.approx(2 / j, rel=1e-6)
    assert abs(found["w1", "T"][-1]) < 1e-8
    assert found["phi", "T"][-1] == pytest.approx(1 + 0.5 * 1.3 - w(1.3), rel=1e-6)


def test_refusals(decay):
    with pytest.raises(gyrator.GyratorError, match="`n`"):
        decay.sensitivities(["n"])
    model = gyrator.loads(
        "model P parameter Real a = 0.5, b = 0.5; Real x(start = 0, fixed = true);"
        " equation der(x) = (if time > a then 1 else 2)*(if time > b then 3 else 5); end P;"
    )
    with pytest.raises(gyrator.SimulationError, match="change together"):
        model.sensitivities(["a"], ["x"])


def test_a_fit_finds_what_made_the_data(ball):
    true = {"g": 9.5, "e": 0.72}
    times = np.linspace(0, 1.2, 60)
    run = ball.simulate(times=times, stop=1.2, tolerance=1e-10, parameters=true)
    rows = np.searchsorted(run.time, times, side="right") - 1
    noise = 1e-3 * np.random.default_rng(7).standard_normal(len(times))
    data = {"time": times, "h": run["h"][rows] + noise}
    found = ball.fit(data, {"g": 9.81, "e": 0.8}, bounds={"e": (0, 1)})
    for name, value in true.items():
        assert abs(found.parameters[name] - value) < 2 * found.uncertainty[name]
        assert found.uncertainty[name] < 0.02 * value
    assert found.rms == pytest.approx(1e-3, rel=0.3)
    assert set(found.residuals) == {"h"}
    assert found.model.parameters["g"].value == found.parameters["g"]
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    assert len(found.plot().axes) == 2


def test_covariance_of_a_linear_problem():
    # y = a + b t: the covariance is that of a straight line.
    model = gyrator.loads("model L parameter Real a = 1, b = 1; Real y = a + b*time; end L;")
    t = np.linspace(0, 2, 21)
    rng = np.random.default_rng(3)
    y = 2 - 0.5 * t + 0.1 * rng.standard_normal(len(t))
    found = model.fit({"time": t, "y": y}, ["a", "b"], sigma=0.1)
    design = np.column_stack([np.ones_like(t), t])
    covariance = 0.01 * np.linalg.inv(design.T @ design)
    best = np.linalg.lstsq(design, y, rcond=None)[0]
    assert np.allclose([found.parameters["a"], found.parameters["b"]], best, rtol=1e-6)
    assert np.allclose(found.covariance, covariance, rtol=1e-6)
    assert found.uncertainty["a"] == pytest.approx(1.959964 * np.sqrt(covariance[0, 0]), rel=1e-5)


def test_what_data_do_not_determine():
    model = gyrator.loads("model L parameter Real a = 1, b = 1, c = 1; Real y = a*b*time; end L;")
    t = np.linspace(0, 1, 11)
    data = {"time": t, "y": 6 * t}
    both = model.fit(data, ["a", "b"])
    assert both.parameters["a"] * both.parameters["b"] == pytest.approx(6)
    assert "combination of `a`, `b`" in both.warnings[0] and np.all(np.isinf(both.covariance))
    one = model.fit(data, ["a", "c"])
    assert one.warnings == ["the data do not depend on `c`"]
    assert one.uncertainty["a"] < 1e-3 and np.isinf(one.uncertainty["c"])
    bounded = model.fit(data, ["a"], bounds={"a": (None, 4)})
    assert bounded.parameters["a"] == 4 and "bound" in bounded.warnings[0]


@pytest.mark.parametrize("power", [0, 4, 8, 12])
def test_the_units_of_parameters_do_not_count(power):
    unit = 10.0**power
    model = gyrator.loads(
        f"model U parameter Real a = {1 / unit}, b = {unit}; Real x(start = 0, fixed = true), y(start = 0, fixed = true);"
        f"equation der(x) = a*{unit}; der(y) = 2*b/{unit}; end U;"
    )
    t = np.linspace(0, 6, 13)
    found = model.fit({"time": t, "x": 3 * t, "y": 5 * t}, ["a", "b"])
    assert found.parameters["a"] == pytest.approx(3 / unit, rel=1e-6)
    assert found.parameters["b"] == pytest.approx(2.5 * unit, rel=1e-6)
    assert found.warnings == []


def test_a_fit_that_comes_to_no_minimum_says_so():
    model = gyrator.loads(
        "model C parameter Real k = 300, room = 0; Real T(start = 80, fixed = true); equation der(T) = -k*(T - room); end C;"
    )
    t = np.linspace(0, 6, 40)
    data = {"time": t, "T": 22 + 58 * np.exp(-0.7 * t)}
    found = model.fit(data, ["k", "room"])
    # With k = 300 all but the first value are those of the room.
    assert found.parameters["room"] == pytest.approx(data["T"][1:].mean(), rel=1e-6)
    assert "not come to a minimum" in found.warnings[0]
    assert any("hardly depend on `k`" in warning for warning in found.warnings)
    assert model.fit(data, {"k": 2, "room": 10}).parameters["k"] == pytest.approx(0.7, rel=1e-6)


def test_repeated_measurements_in_any_order():
    model = gyrator.loads("model L parameter Real a = 1; Real y = a*time; end L;")
    found = model.fit({"time": [2, 1, 1], "y": [4, 1, 3]}, ["a"])
    # The sum of t*y by that of t*t.
    assert found.parameters["a"] == pytest.approx(12 / 6)


def test_quantiles_of_student():
    from gyrator._fit import _student

    # From tables.
    for freedom, quantile in [(1, 12.7062), (2, 4.30265), (10, 2.22814), (30, 2.04227), (1000, 1.96234)]:
        assert _student(0.975, freedom) == pytest.approx(quantile, rel=1e-5)


def test_wrong_data(ball):
    with pytest.raises(gyrator.CallError, match="column `time`"):
        ball.fit({"h": [1, 2]}, ["g"])
    with pytest.raises(gyrator.CallError, match="no rows"):
        ball.fit({"time": [], "h": []}, ["g"])
    with pytest.raises(gyrator.CallError, match="finite"):
        ball.fit({"time": [0, np.nan], "h": [1, 2]}, ["g"])
    with pytest.raises(gyrator.CallError, match="standard deviation of `h`"):
        ball.fit({"time": [0, 1], "h": [1, 2]}, ["g"], sigma=np.nan)
    with pytest.raises(gyrator.CallError, match="before the run"):
        ball.fit({"time": [-1, 1], "h": [1, 2]}, ["g"])
    ends = gyrator.loads("model E parameter Real k = 1; Real x = k*time; equation when time > 1 then terminate(\"\"); end when; end E;")
    with pytest.raises(gyrator.SimulationError, match="the run ends at 1"):
        ends.fit({"time": [0.5, 2], "x": [1, 2]}, ["k"])
    with pytest.raises(KeyError, match="no variable `height`"):
        ball.fit({"time": [0, 1], "height": [1, 2]}, ["g"])


LINE = "model L parameter Real a = 1, b = 1; Real y = a + b*time; Real z = a - b*time; end L;"


def line(t, y, weight):
    """Intercept, slope and their deviations of a straight line, from the normal equations."""
    design = np.column_stack([np.ones_like(t), t]) * weight[:, None]
    inverse = np.linalg.inv(design.T @ design)
    return inverse @ design.T @ (weight * y), np.sqrt(np.diag(inverse))


def test_masked_values_were_not_measured():
    model = gyrator.loads(LINE)
    t = np.linspace(0, 2, 21)
    y = 2 - 0.5 * t + 0.1 * np.random.default_rng(3).standard_normal(len(t))
    bad = (t > 0.5) & (t < 0.8)
    best, deviation = line(t[~bad], y[~bad], np.full(int((~bad).sum()), 10.0))
    sigma = np.ma.array(np.full(len(t), 0.1), mask=bad)
    for wild in (1e3, np.inf):
        found = model.fit({"time": t, "y": np.ma.array(np.where(bad, wild, y), mask=bad)}, ["a", "b"], sigma={"y": sigma})
        assert np.allclose(list(found.parameters.values()), best, rtol=1e-6)
        assert np.allclose(np.sqrt(np.diag(found.covariance)), deviation, rtol=1e-6)
    with pytest.raises(gyrator.CallError, match="0 values do not determine 2 parameters"):
        model.fit({"time": t, "y": np.ma.array(y, mask=True)}, ["a", "b"])
    with pytest.raises(gyrator.CallError, match="standard deviation of `y`"):
        model.fit({"time": t, "y": y}, ["a", "b"], sigma={"y": sigma})
    with pytest.raises(gyrator.CallError, match="times of the data"):
        model.fit({"time": np.ma.array(t, mask=bad), "y": y}, ["a", "b"])


def test_every_measured_variable_has_its_deviation():
    model = gyrator.loads(LINE)
    t = np.linspace(0, 2, 21)
    noise = np.random.default_rng(5).standard_normal((2, len(t)))
    data = {"time": t, "y": 2 - 0.5 * t + 0.1 * noise[0], "z": 2 + 0.5 * t + 10 * noise[1]}
    found = model.fit(data, ["a", "b"], sigma={"y": 0.1, "z": 10})
    # The same straight line, with the second variable over negative times.
    both = np.concatenate([t, -t]), np.concatenate([data["y"], data["z"]]), np.repeat([10, 0.1], len(t))
    assert np.allclose(list(found.parameters.values()), line(*both)[0], rtol=1e-6)
    for sigma in ({"y": 0.1}, {"y": 0.1, "z": None}):
        with pytest.raises(gyrator.CallError, match="`sigma` has nothing for `z`"):
            model.fit(data, ["a", "b"], sigma=sigma)
    with pytest.raises(KeyError, match="no measured variable `Y`; did you mean `y`"):
        model.fit(data, ["a", "b"], sigma={"Y": 0.1, "z": 10})
    with pytest.raises(gyrator.CallError, match="for the 21 of `y`"):
        model.fit(data, ["a", "b"], sigma={"y": [0.1, 0.2], "z": 10})


@pytest.mark.parametrize("confidence", [95, 1, 0, -1, np.nan, np.inf])
def test_confidence_is_a_probability(confidence):
    data = {"time": [0, 1, 2], "y": [1, 2, 4]}
    # Before the data: 95 went on for ever.
    for sigma in (1, None):
        with pytest.raises(gyrator.CallError, match="between 0 and 1"):
            gyrator.loads(LINE).fit(data, ["a", "b"], confidence=confidence, sigma=sigma)


def test_data_that_are_no_numbers():
    import datetime

    model = gyrator.loads(LINE)
    with pytest.raises(gyrator.CallError, match="`a` is listed more than once"):
        model.fit({"time": [0, 1, 2], "y": [1, 2, 4]}, ["a", "b", "a"])
    with pytest.raises(gyrator.CallError, match="`y` has infinite values"):
        model.fit({"time": [0, 1, 2], "y": [1, np.inf, 4]}, ["a"])
    with pytest.raises(gyrator.CallError, match="column `y` has values that are no numbers, such as 'off'"):
        model.fit({"time": [0, 1, 2], "y": ["1", "off", "4"]}, ["a"])
    with pytest.raises(gyrator.CallError, match="no numbers"):
        model.fit({"time": [0, 1, 2], "y": [1j, 2, 4]}, ["a"])
    first = datetime.datetime(2024, 5, 1)
    days = [first + datetime.timedelta(day) for day in range(3)]
    for times in (days, np.array(days, dtype="datetime64[s]"), [day - first for day in days]):
        with pytest.raises(gyrator.CallError, match="column `time` has dates or durations: give numbers"):
            model.fit({"time": times, "y": [1, 2, 4]}, ["a"])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": [0.0, 1, 2], "y": [1.0, 2, 4], "remark": ["", "good", ""]})
    with pytest.raises(gyrator.CallError, match="column `remark` has values that are no numbers"):
        model.fit(frame, ["a"])
    with pytest.raises(gyrator.CallError, match="dates or durations"):
        model.fit(frame[["y"]].set_index(pandas.date_range("2024", periods=3, name="time")), ["a"])
