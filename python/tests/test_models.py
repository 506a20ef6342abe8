"""Loading, parameters, runs."""

import pathlib
import pickle
import subprocess
import sys
import threading
import time

import gyrator
import numpy as np
import pytest
from conftest import BALL, DECAY, EXAMPLES


def test_a_file_is_loaded_and_run():
    result = gyrator.load(EXAMPLES / "circuit.mo").simulate()
    assert "C.u" in result
    assert result.time[0] == 0


def test_closed_form(decay):
    result = decay.simulate(stop=2, tolerance=1e-9)
    assert np.allclose(result["x[1]"], 3 * np.exp(-2 * result.time), rtol=1e-6)
    assert result.last("y") == result["x[1]"][-1]
    assert result.at("y", 0.5) == pytest.approx(3 * np.exp(-1), rel=1e-4)


def test_arrays_look_into_the_run(decay):
    result = decay.simulate()
    column = result["y"]
    assert not column.flags.writeable and not column.flags.owndata
    again = result["y"]
    assert column.__array_interface__["data"] == again.__array_interface__["data"]
    del result
    assert column[0] == 3.0


def test_parameters(decay, ball):
    known = decay.parameters
    assert (known["k"].value, known["k"].unit, known["k"].type, known["k"].structural) == (2.0, "1/s", "Real", False)
    assert (known["n"].value, known["n"].type, known["n"].structural) == (1, "Integer", True)
    assert known["grows"].value is False
    assert ball.parameters["g"].description == "Gravity"
    assert decay.inputs == ["u"] and decay.outputs == ["y"]


def test_values_of_parameters(decay):
    assert decay.simulate(k=1).last("y") == pytest.approx(3 * np.exp(-1), rel=1e-5)
    assert decay.simulate(parameters={"k": 1}).last("y") == pytest.approx(3 * np.exp(-1), rel=1e-5)
    assert decay.simulate(grows=True).last("y") == pytest.approx(3 * np.exp(2), rel=1e-5)
    # A structural one needs a translation.
    assert "x[3]" in decay.simulate(n=3)
    changed = decay.with_parameters(k=1).with_parameters(n=2)
    assert changed.parameters["k"].value == 1 and changed.parameters["n"].value == 2


def test_unknown_names_have_the_nearest_ones(decay):
    result = decay.simulate()
    with pytest.raises(KeyError, match=r"did you mean `x\[1\]`"):
        result["x1"]
    with pytest.raises(gyrator.UnknownName, match="there is no parameter `K`; did you mean `k`"):
        decay.simulate(K=3)
    with pytest.raises(KeyError, match="no parameter"):
        decay.parameters["kk"]


def test_settings(decay):
    assert len(decay.simulate(stop=1, intervals=10).time) == 11
    assert decay.simulate(start=1, stop=3).time[0] == 1
    assert decay.simulate(times=[0.1, 0.7], stop=1).time.tolist() == [0.0, 0.1, 0.7, 1.0]
    assert decay.simulate(times=[0.5, 3]).time.tolist() == [0.0, 0.5, 3.0]
    with pytest.raises(gyrator.CallError, match="behind the end"):
        decay.simulate(times=[0.5, 3], stop=2)
    for solver in ("bdf", "tsit5", "esdirk"):
        assert decay.simulate(solver=solver, stop=1).last("y") == pytest.approx(3 * np.exp(-2), rel=1e-4)
    with pytest.raises(ValueError, match="solver|method|no such"):
        decay.simulate(solver="nothing")
    with pytest.raises(gyrator.CallError):
        decay.simulate(stop=-1)
    with pytest.raises(ValueError):
        decay.simulate(intervals=0)
    assert decay.simulate(stop=1, interval=0.25).time.tolist() == [0, 0.25, 0.5, 0.75, 1]
    for call in (decay.simulate, lambda **given: decay.sensitivities(["k"], ["y"], **given)):
        with pytest.raises(gyrator.CallError, match="give one of them"):
            call(intervals=3, interval=0.1)


def test_more_rows_than_fit_into_memory_are_refused(decay):
    sensitivities = lambda **given: decay.sensitivities(["k"], ["y"], **given)  # noqa: E731
    sweep = lambda **given: gyrator.sweep(decay, {"k": [1, 2]}, **given)  # noqa: E731
    for call in (decay.simulate, sensitivities, sweep):
        for given in ({"intervals": 10**12}, {"interval": 1e-12}):
            with pytest.raises(ValueError, match=r"1\.000e12 rows.*longer `interval`.*`times`.*command line"):
                call(stop=1, **given)
    # The interval is of no importance where the times of rows are given.
    assert len(decay.simulate(stop=1, interval=1e-12, times=[0.5]).time) == 3


def test_inputs(decay):
    # x' = -2 x + u with a step of 4 at 1.
    result = decay.simulate(stop=2, tolerance=1e-9, inputs={"u": ([0, 1, 1, 2], [0, 0, 4, 4])})
    assert result.last("y") == pytest.approx(2 + (3 * np.exp(-2) - 2) * np.exp(-2), rel=1e-6)
    assert decay.simulate(inputs={"u": 6.0}).last("y") == pytest.approx(3.0)
    with pytest.raises(gyrator.CallError, match="no input `w`"):
        decay.simulate(inputs={"w": 1.0})


def test_going_on_from_a_result(decay):
    first = decay.simulate(stop=1, tolerance=1e-9)
    second = decay.simulate(start_from=first, stop=2, tolerance=1e-9)
    assert second.time[0] == 1
    assert second.last("y") == pytest.approx(3 * np.exp(-4), rel=1e-6)


def test_messages_are_those_of_the_command_line(tmp_path):
    path = tmp_path / "wrong.mo"
    path.write_text("model Wrong\n  Real x = yy;\n  Real z = uu;\nend Wrong;\n")
    with pytest.raises(gyrator.ModelError) as caught:
        gyrator.load(path)
    said = caught.value.diagnostics[0]
    assert (said.line, said.path) == (2, str(path))
    assert said.code in str(caught.value) and "`yy`" in str(caught.value)
    assert "wrong.mo:2:" in gyrator.check(path)
    assert gyrator.check(path).rstrip("\n") == str(caught.value) and "\n\n" not in str(caught.value)


def test_a_failing_run_keeps_what_it_came_to():
    model = gyrator.loads("model M Real x(start = 0, fixed = true); equation der(x) = 1/(0.5 - time); end M;")
    with pytest.raises(gyrator.SimulationError) as caught:
        model.simulate()
    assert caught.value.partial.time[-1] > 0.4
    assert pickle.loads(pickle.dumps(caught.value)).diagnostics[0].code == caught.value.diagnostics[0].code


def test_callbacks(decay):
    times = []
    part = decay.simulate(stop=5, callback=lambda time: times.append(time) or time < 1)
    assert part.interrupted >= 1 and part.time[-1] < 5 and times == sorted(times)
    with pytest.raises(ZeroDivisionError):
        decay.simulate(callback=lambda time: 1 / 0)


def test_threads_run_at_once():
    model = gyrator.loads(BALL)
    ticks = 0
    done = threading.Event()

    def work():
        model.simulate(stop=1, intervals=400_000)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    # Python went on while the run was computed.
    assert ticks > 5


def test_keep(decay):
    assert decay.simulate(keep=["y"]).names == ["y"]
    with pytest.raises(gyrator.UnknownName):
        decay.simulate(keep=["Y"])


def test_steady_state_and_linear_model():
    model = gyrator.loads(
        "model M input Real u(start = 2); output Real y = 3*x; Real x(start = 1, fixed = true), v(start = 0, fixed = true);"
        " equation der(x) = v; der(v) = -4*x - v + u; end M;"
    )
    rest = model.steady_state()
    assert rest["x"] == pytest.approx(0.5) and rest["v"] == pytest.approx(0, abs=1e-9)
    linear = model.linearize()
    assert (linear.states, linear.inputs, linear.outputs) == (["x", "v"], ["u"], ["y"])
    assert linear.A.tolist() == [[0, 1], [-4, -1]] and linear.C.tolist() == [[3, 0]]
    assert np.allclose(sorted(linear.poles.imag), [-np.sqrt(15) / 2, np.sqrt(15) / 2])
    control = pytest.importorskip("control")
    space = linear.to_control()
    assert space.input_labels == ["u"] and np.allclose(control.dcgain(space), 0.75)


def test_a_stationary_state_that_a_run_does_not_come_to_is_a_warning():
    model = gyrator.loads("model M Real x(start = 2, fixed = true); equation der(x) = x^2; end M;")
    with pytest.warns(UserWarning, match="did not come to rest"):
        model.steady_state()


def test_a_kink_at_the_point_is_a_note():
    model = gyrator.loads("model M input Real u; Real x(start = 0, fixed = true); equation der(x) = -abs(x) + u; end M;")
    assert any("abs(x)" in note or "kink" in note or "sides" in note for note in model.linearize().notes)


def test_names_that_say_nothing_are_refused():
    text = "model M parameter Real k = 2; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;"
    model = gyrator.loads(text)
    with pytest.raises(gyrator.CallError, match="`k` is given twice"):
        model.simulate(1.0, k=3, parameters={"k": 4})
    with pytest.raises(gyrator.UnknownName):
        gyrator.loads(text, inputs=["zzz"])
    found = model.sensitivities(["k"], ["x"], stop=1)
    with pytest.raises(gyrator.CallError, match="a variable and a parameter"):
        found["xk"]


def test_models_are_pickled_as_texts(tmp_path, ball):
    path = tmp_path / "decay.mo"
    path.write_text(DECAY)
    stored = pickle.dumps(gyrator.load(path).with_parameters(k=1))
    path.unlink()
    copy = pickle.loads(stored)
    assert copy.simulate().last("y") == pytest.approx(3 * np.exp(-1), rel=1e-5)
    # In another process, too, and without machine code.
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(ball))
    script = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).simulate().last('h'))"
    out = subprocess.run([sys.executable, "-c", script, str(tmp_path / "model.pickle")], capture_output=True, text=True)
    assert float(out.stdout) == ball.simulate().last("h"), out.stderr


def test_a_model_keeps_the_texts_that_it_was_loaded_from(tmp_path):
    path = tmp_path / "m.mo"
    text = "model M parameter Integer n = 2; Real x[n] = fill({}, n); Real z(start = {}, fixed = true); {}"
    rest = "equation der(z) = -{}*z; end M;"
    path.write_text(text.format("1.0", "1", rest.format("2")))
    model = gyrator.load(path)
    path.write_text(text.format("5.0", "7", rest.format("3")))
    result = model.simulate(n=3)
    assert [result.last(f"x[{place}]") for place in (1, 2, 3)] == [1, 1, 1]
    assert result["z"][0] == 1
    assert model.linearize().A[0, 0] == pytest.approx(-2)
    # What was translated anew keeps them, too, also where the file is gone.
    other = model.with_parameters(n=1)
    assert gyrator.load(path).simulate(n=3).last("x[3]") == 5
    path.unlink()
    assert other.simulate(n=4).last("x[4]") == model.simulate(n=5).last("x[5]") == 1


def test_simulations_step(decay):
    loop = decay.simulation(tolerance=1e-9)
    loop.set(u=6)
    assert loop.step_to(0.5) == "time"
    assert loop["y"] == pytest.approx(3.0)
    mark = loop.snapshot()
    loop.set({"u": 0})
    loop.step(0.5)
    first = loop.get(["y", "u"])
    loop.restore(mark)
    assert loop.time == 0.5
    loop.set(u=0)
    loop.step(0.5)
    assert loop.get(["y", "u"]).tolist() == first.tolist()
    assert first[0] == pytest.approx(3 * np.exp(-1), rel=1e-6)
    assert loop.jacobian(["der(x[1])"], ["x[1]", "u"]).tolist() == [[-2, 1]]
    loop.set(k=1)
    loop.step(1)
    assert loop["y"] == pytest.approx(first[0] / np.e, rel=1e-6)
    with pytest.raises(gyrator.SimulationError, match="structural-parameter"):
        loop.set(k=0)
    with pytest.raises(KeyError, match="did you mean `y`"):
        loop["Y"]


def test_events_stop_a_simulation(ball):
    loop = ball.simulation()
    assert loop.step_to(1, events=True) == "event"
    assert loop.time == pytest.approx(np.sqrt(2 / 9.81))
    assert loop["v"] == pytest.approx(0.8 * np.sqrt(2 * 9.81))


def test_a_closed_loop(decay):
    kept = decay.simulation().loop(5, 0.1, lambda loop: loop.set(u=4 * (1 - loop["y"]) + 2), ["y", "u"])
    assert len(kept["time"]) == 51 and kept["y"][-1] == pytest.approx(1.0, abs=1e-2)


def test_loops_without_an_end_are_refused(decay):
    calls = []

    def control(loop):
        calls.append(loop.time)
        assert len(calls) < 100, "the loop goes on"

    for interval in (0, -0.1, float("nan"), float("inf")):
        with pytest.raises(gyrator.CallError, match="interval of a loop"):
            decay.simulation().loop(0.25, interval, control, ["y"])
    with pytest.raises(gyrator.CallError, match="needs an end"):
        decay.simulation().loop(float("inf"), 0.1, control, ["y"])
    assert calls == []


def test_unknown_names_of_a_jacobian(decay):
    loop = decay.simulation()
    for of, by, said in ((["Y"], ["u"], "`Y`; did you mean `y`"), (["y"], ["x1"], r"`x1`; did you mean `x\[1\]`")):
        with pytest.raises(gyrator.UnknownName, match=said):
            loop.jacobian(of, by)


def test_doctests():
    import doctest

    from gyrator import _model, _simulation, _sweep, _values

    for module in (gyrator, _model, _simulation, _sweep, _values):
        found = doctest.testmod(module)
        assert found.failed == 0 and found.attempted > 0, module


def test_types():
    pytest.importorskip("mypy")
    package = pathlib.Path(gyrator.__file__).parent
    config = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"
    from mypy import api

    out, err, status = api.run(["--config-file", str(config), "-p", "gyrator"])
    assert status == 0, out + err
    assert (package / "py.typed").exists()


def test_arrays_and_attributes_are_set_like_numbers():
    model = gyrator.loads(
        "model A parameter Real a[3] = {1, 2, 3}; parameter Integer n[:, :] = {{1, 2}}; Real x(start = 0, fixed = true);"
        " Real s = sum(a) + sum(n); equation der(x) = 1; end A;"
    )
    assert model.simulate(a=[5, 6, 7.5]).last("s") == 21.5
    assert model.simulate(a=np.array([1.0, 1, 1]), n=np.array([[3, 4], [5, 6]])).last("s") == 21
    assert model.simulate(stop=1, parameters={"x.start": 5}).last("x") == pytest.approx(6)
    with pytest.raises(gyrator.UnknownName):
        model.simulate(b=[1, 2])
    with pytest.raises(gyrator.UnknownName):
        model.simulate(parameters={"y.start": 1})


def test_values_that_no_parameter_has():
    model = gyrator.loads(
        "model A type E = enumeration(low, high); parameter E e = E.low; parameter Real k = 1; Real x = if e == E.low then k else 2;"
        " end A;"
    )
    for value in (float("nan"), float("inf")):
        with pytest.raises(gyrator.CallError, match="finite"):
            model.simulate(k=value)
    with pytest.raises(gyrator.CallError, match="`e` is an enumeration, so it cannot be 2: give one of 'low', 'high'"):
        model.simulate(e=2)
    with pytest.raises(gyrator.CallError, match="`e` has no value `hihg`; did you mean `high`"):
        model.simulate(e="hihg")
    with pytest.raises(gyrator.CallError, match="`k` is a Real, so it cannot be True"):
        model.simulate(k=True)
    with pytest.raises(gyrator.CallError, match="`k` is no array"):
        model.simulate(k=[1, 2])
    with pytest.raises(gyrator.CallError, match="before the run"):
        model.simulate(times=[-1, 0.5])
    for time in (-1, float("nan"), float("inf")):
        with pytest.raises(gyrator.CallError, match="no point at time"):
            model.linearize(at=time)


KINDS = """
model Kinds
  type Kind = enumeration(linear, square);
  parameter Kind kind = Kind.linear;
  parameter Kind each_kind[2] = {Kind.linear, Kind.square};
  parameter Boolean on = true;
  parameter Boolean sized = false;
  parameter Integer n = 3;
  parameter Real p[2] = {1, 2};
  parameter String label = "a \\"b\\"" "What it is called";
  parameter String labels[2] = {"x", "y"};
  Real wide[if sized then 2 else 1] = fill(1, size(wide, 1));
  Real y = if on then (if kind == Kind.square then n^2 else n) else 0;
  Real z = p[1] + 10*p[2] + (if each_kind[2] == Kind.linear then 100 else 0);
  Boolean is_c = label == "c\\n\\"d\\"";
  Boolean is_v = labels[2] == "v";
end Kinds;
"""


def test_values_of_all_types():
    import enum

    model = gyrator.loads(KINDS)
    known = model.parameters
    assert (known["kind"].value, known["kind"].literals, known["kind"].type) == ("linear", ("linear", "square"), "enumeration")
    assert (known["label"].value, known["label"].type, known["label"].structural) == ('a "b"', "String", True)
    assert known["label"].description == "What it is called" and known["on"].value is True
    kind = enum.Enum("Kind", "linear square")
    for square in ("square", "Kind.square", "Kinds.Kind.square", kind.square, gyrator.Expression("Kinds.Kind.square")):
        assert model.simulate(kind=square, n=4).last("y") == 16
    assert model.simulate(on=False).last("y") == 0 and model.simulate(on=np.bool_(False)).last("y") == 0
    assert model.simulate(on="1 > 5").last("y") == 0
    # Arrays of the same size need no translation.
    changed = model.with_parameters(p=[3, 4])
    assert changed._native.is_same_translation(model._native) and changed.simulate().last("z") == 43
    assert model.simulate(p=(3, 4), each_kind=["linear", "linear"]).last("z") == 143
    assert "wide[2]" in model.simulate(sized=True)
    assert model.simulate(label='c\n"d"').last("is_c") == 1 and model.simulate(labels=["u", "v"]).last("is_v") == 1
    # All values stay when others are set, also for linear models and in copies.
    together = model.with_parameters(kind="square").with_parameters(label="q").with_parameters(p=[5, 6], on=True)
    assert together.parameters["kind"].value == "square" and together.parameters["label"].value == "q"
    assert pickle.loads(pickle.dumps(together)).simulate().last("z") == 65
    linear = model.with_parameters(kind="square", on=False).linearize()
    assert linear.A.shape == (0, 0)
    for wrong, said in ({"n": 1.5}, "an Integer"), ({"on": 2}, "a Boolean"), ({"label": 3}, "a String"), ({"y": 3}, "computed"):
        with pytest.raises(gyrator.CallError, match=said):
            model.simulate(parameters=wrong)
    with pytest.raises(gyrator.UnknownName, match="did you mean `label`"):
        model.simulate(lable="c")


def test_parameters_of_the_first_translation():
    text = "model M parameter Integer n; parameter String s; Real x[n] = fill(if s == \"a\" then 1 else 2, n); end M;"
    assert gyrator.loads(text, parameters={"n": 2, "s": '"b"'}).simulate().last("x[2]") == 2


def test_truth_values_and_literals_are_set_during_a_run():
    model = gyrator.loads(
        "model M type E = enumeration(up, down); input E e(start = E.up); input Boolean on(start = true); parameter Boolean twice = false;"
        " Boolean both = on and twice; Real x(start = 0, fixed = true); equation der(x) = (if not on then 0 elseif e == E.up then 1 else -1)"
        "*(if both then 2 else 1); end M;"
    )
    loop = model.simulation()
    loop.step(1)
    loop.set(e="down", twice=True)
    loop.step(1)
    assert loop["x"] == pytest.approx(-1)
    loop.set(on=False)
    loop.step(1)
    assert loop["x"] == pytest.approx(-1)
    with pytest.raises(gyrator.CallError, match="'maybe' is an expression"):
        loop.set(on="maybe")
    with pytest.raises(gyrator.CallError, match="a Boolean"):
        loop.set(on=2)


def test_a_copy_of_a_simulation_goes_its_own_way():
    import copy

    model = gyrator.loads("model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;")
    first = model.simulation()
    first.set(u=1)
    first.step(1)
    for other in (copy.copy(first), copy.deepcopy(first)):
        other.set(u=-1)
        other.step(1)
        assert (other["x"], other.time) == (pytest.approx(0, abs=1e-9), 2)
        assert (first["x"], first.time) == (pytest.approx(1), 1)


def test_a_step_without_end_is_refused():
    simulation = gyrator.loads("model M Real x(start = 0, fixed = true); equation der(x) = 1; end M;").simulation()
    with pytest.raises(gyrator.GyratorError, match="no end"):
        simulation.step_to(float("inf"))
    simulation.step_to(1)
    assert simulation["x"] == pytest.approx(1)


@pytest.mark.parametrize("work", ["model.simulation().step(1e9)", "model.sensitivities(['k'], ['x'], stop=1e9, intervals=2)"])
def test_runs_are_interrupted(work, tmp_path):
    import signal
    import subprocess
    import sys

    text = "model M parameter Real k = 1; Real x(start = 1, fixed = true), y(start = 0, fixed = true);"
    text += " equation der(x) = k*y; der(y) = -k*x; end M;"
    program = tmp_path / "long.py"
    program.write_text(f"import gyrator\nmodel = gyrator.loads({text!r})\nprint('ready', flush=True)\n{work}\n")
    run = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(timeout=1)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=30)
        assert "KeyboardInterrupt" in errors
    finally:
        run.kill()
