"""Models that several tests use."""

import os
import pathlib

import gyrator
import pytest

EXAMPLES = pathlib.Path(os.environ.get("GYRATOR_EXAMPLES", pathlib.Path(__file__).resolve().parents[2] / "examples"))

BALL = """
model Ball "A ball that bounces"
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e = 0.8;
  parameter Real h0(unit = "m") = 1;
  Real h(unit = "m", start = h0, fixed = true) "Height";
  Real v(unit = "m/s", start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 1));
end Ball;
"""

DECAY = """
model Decay
  parameter Real k(unit = "1/s") = 2;
  parameter Integer n = 1 "Decides a size";
  parameter Boolean grows = false;
  input Real u;
  Real x[n](each start = 3, each fixed = true);
  output Real y = x[1];
equation
  for i in 1:n loop
    der(x[i]) = (if grows then k else -k)*x[i] + u;
  end for;
end Decay;
"""


@pytest.fixture(scope="session")
def ball() -> gyrator.Model:
    return gyrator.loads(BALL)


@pytest.fixture(scope="session")
def decay() -> gyrator.Model:
    return gyrator.loads(DECAY)
