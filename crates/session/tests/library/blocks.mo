package BlocksTests "Each model: `error` is the distance from a closed form"
  import Gyrator.Blocks.*;

  model Waves "All sources"
    Sources.Constant constant1(k = 3);
    Sources.Step step(height = 2, offset = 1, startTime = 0.513);
    Sources.Ramp ramp(height = 4, duration = 2, offset = -1, startTime = 0.5);
    Sources.Sine sine(amplitude = 2, f = 0.5, phase = 0.1, offset = 1);
    Sources.Pulse pulse(amplitude = 5, period = 1, width = 0.313, offset = 1, startTime = 0.211);
    Sources.BooleanStep booleanStep(startTime = 1.711);
    Sources.BooleanPulse booleanPulse(period = 0.5, width = 0.413);
    Sources.BooleanTable booleanTable(instants = {0.313, 1.111, 2.211});
    Real phase = mod(time - 0.211, 1);
    Real error[8] = {
      constant1.y - 3,
      step.y - noEvent(if time < 0.513 then 1 else 3),
      ramp.y - noEvent(if time < 0.5 then -1 else if time < 2.5 then -1 + 2*(time - 0.5) else 3),
      sine.y - 1 - 2*sin(3.14159265358979*time + 0.1),
      pulse.y - noEvent(if time > 0.211 and phase < 0.313 then 6 else 1),
      noEvent((if booleanStep.y then 1 else 0) - (if time < 1.711 then 0 else 1)),
      noEvent((if booleanPulse.y then 1 else 0) - (if mod(time, 0.5) < 0.2065 then 1 else 0)),
      noEvent((if booleanTable.y then 1 else 0) - (if time < 0.313 or time > 1.111 and time < 2.211 then 0 else 1))};
    annotation(experiment(StopTime = 3));
  end Waves;

  model Arithmetic "Sums, products, limits"
    Math.Gain gain(k = 3, u = sin(time));
    Math.Add add(k1 = 2, k2 = -1, u1 = time, u2 = cos(time));
    Math.Feedback feedback(u1 = 5, u2 = time);
    Math.Product product(u1 = time, u2 = time);
    Math.Division division(u1 = 6, u2 = 1 + time);
    Math.Absolute absolute(u = cos(time));
    Math.Limiter limiter(uMax = 0.5, uMin = -0.25, u = sin(time));
    Math.DeadZone zone(uMax = 0.5, uMin = -0.25, u = sin(time));
    Real s = sin(time);
    Real error[8] = {gain.y - 3*s, add.y - 2*time + cos(time), feedback.y - 5 + time, product.y - time^2, division.y - 6/(1 + time),
      absolute.y - noEvent(abs(cos(time))), limiter.y - noEvent(min(0.5, max(-0.25, s))), limiter.y + zone.y - s};
    annotation(experiment(StopTime = 7));
  end Arithmetic;

  model LinearSystems "Responses to a step"
    Continuous.Integrator integrator(k = 2, y0 = 1, u = 1);
    Continuous.Derivative derivative(k = 1, T = 0.1, u = time);
    Continuous.FirstOrder lag(k = 2, T = 0.5, u = 1);
    Continuous.SecondOrder oscillation(k = 1, w = 2, D = 0.5, u = 1);
    Continuous.PI pi(k = 2, T = 0.5, u = 1);
    Continuous.PID pid(k = 1, Ti = 2, Td = 0.5, N = 5, u = time);
    Continuous.StateSpace system(A = [0, 1; -4, -2], B = [0; 4], C = [1, 0; 0, 1], u = {1});
    Continuous.TransferFunction function1(b = {1, 3}, a = {1, 3, 2}, u = 1);
    Continuous.TransferFunction direct(b = {2, 1}, a = {1, 1}, u = 1);
    Continuous.TransferFunction gain(b = {3}, a = {2}, u = time);
    Real swing = exp(-time)*(cos(sqrt(3)*time) + sin(sqrt(3)*time)/sqrt(3));
    Real error[11] = {gain.y - 1.5*time, integrator.y - 1 - 2*time, derivative.y - 1 + exp(-10*time), lag.y - 2*(1 - exp(-2*time)), oscillation.y - 1 + swing,
      pi.y - 2*(1 + 2*time), pid.y - time - time^2/4 - 0.5*(1 - exp(-10*time)), system.y[1] - 1 + swing, system.y[2] - oscillation.yd,
      function1.y - (1.5 - 2*exp(-time) + 0.5*exp(-2*time)), direct.y - 1 - exp(-time)};
    annotation(experiment(StopTime = 4));
  end LinearSystems;

  model SampledSystems "What comes out between the instants"
    Discrete.Sampler sampler(period = 0.5, u = time);
    Discrete.UnitDelay delay1(period = 0.5, u = time, y0 = -1);
    Discrete.SampledPI pi(period = 0.5, k = 2, T = 1, u = 1);
    Discrete.SampledFilter filter(period = 0.5, a = 0.5, u = 1);
    Real k = floor(time/0.5);
    Real error[4] = {sampler.y - 0.5*k, delay1.y - noEvent(if k < 1 then -1 else 0.5*(k - 1)), pi.y - 2*(1 + 0.5*(k + 1)), filter.y - 1 + 0.5^(k + 1)};
    annotation(experiment(StopTime = 3.01));
  end SampledSystems;

  model Decisions "Logical blocks, as numbers"
    Real s = sin(2*time);
    Boolean a = s > 0.1;
    Boolean b = cos(2*time) > 0.2;
    Logical.And both(u1 = a, u2 = b);
    Logical.Or one(u1 = a, u2 = b);
    Logical.Not none(u = a);
    Logical.GreaterThan greater(threshold = 0.3, u = s);
    Logical.Hysteresis relay(low = -0.5, high = 0.5, u = s);
    Logical.FlipFlop memory(set = time > 1 and time < 1.2, reset = time > 2 and time < 2.3);
    Logical.Choice choice(u1 = time, condition = a, u2 = -time);
    Logical.Timer timer(u = time > 1.05 and time < 2.5);
    Logical.Edge edge1(u = b);
    Integer edges(start = 0, fixed = true);
    function number
      input Boolean b;
      output Real y = if b then 1 else 0;
    algorithm
    end number;
    Real c = cos(2*time);
    Real error[9] = {
      number(both.y) - noEvent(if s > 0.1 and c > 0.2 then 1 else 0),
      number(one.y) - noEvent(if s > 0.1 or c > 0.2 then 1 else 0),
      number(none.y) - noEvent(if s > 0.1 then 0 else 1),
      number(greater.y) - noEvent(if s > 0.3 then 1 else 0),
      number(relay.y) - noEvent(if mod(2*time, 6.28318530717959) > 0.523598775598299 and mod(2*time, 6.28318530717959) < 3.66519142918809 then 1 else 0),
      number(memory.y) - noEvent(if time > 1 and time <= 2 then 1 else 0),
      choice.y - noEvent(if s > 0.1 then time else -time),
      timer.y - noEvent(if time > 1.05 and time < 2.5 then time - 1.05 else 0),
      edges - noEvent(if time < (6.28318530717959 - acos(0.2))/2 then 0 else if time < 6.28318530717959 - acos(0.2)/2 then 1 else 2)};
  equation
    when edge1.y then
      edges = pre(edges) + 1;
    end when;
    annotation(experiment(StopTime = 6.28));
  end Decisions;

  model Characteristics "Tables"
    Tables.Table1D line(table = [0, 0; 1, 2; 3, -2], u = time - 1);
    Tables.Table2D plane(x1 = {0, 1, 2}, x2 = {0, 2}, table = [0, 2; 1, 3; 2, 4], u1 = time/2, u2 = time/4);
    Tables.TimeTable signal(table = [0, 1; 1, 3; 2, 0; 4, 4]);
    Real error[3] = {line.y - noEvent(if time < 2 then 2*(time - 1) else 2 - 2*(time - 2)), plane.y - 0.75*time,
      signal.y - noEvent(if time < 1 then 1 + 2*time else if time < 2 then 3 - 3*(time - 1) else 2*(time - 2))};
    annotation(experiment(StopTime = 4));
  end Characteristics;
end BlocksTests;
