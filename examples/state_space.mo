package StateSpaceExample "A block of matrices that works for any sizes"
  block StateSpace "der(x) = A*x + B*u, y = C*x + D*u"
    parameter Real A[:, size(A, 1)];
    parameter Real B[size(A, 1), :];
    parameter Real C[:, size(A, 1)];
    parameter Real D[size(C, 1), size(B, 2)] = zeros(size(C, 1), size(B, 2));
    input Real u[size(B, 2)];
    output Real y[size(C, 1)];
    Real x[size(A, 1)](each start = 0, each fixed = true);
  equation
    der(x) = A*x + B*u;
    y = C*x + D*u;
  end StateSpace;

  model Oscillator "Two states, one input, two outputs"
    StateSpace plant(A = {{0, 1}, {-4, -0.4}}, B = {{0}, {4}}, C = {{1, 0}, {0, 1}}, u = {if time < 1 then 0 else 1});
    annotation(experiment(StopTime = 15));
  end Oscillator;
end StateSpaceExample;
