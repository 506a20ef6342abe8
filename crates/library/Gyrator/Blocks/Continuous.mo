within Gyrator.Blocks;
package Continuous "Linear systems and controllers in continuous time"
  extends Icons.Folder;

  block Integrator "Integral"
    extends Bases.OneInput;
    parameter Real k(unit = "1/s") = 1 "Gain";
    parameter Real y0 = 0 "Value at the start";
  initial equation
    y = y0;
  equation
    der(y) = k*u;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {80, 60}}, color = {0, 0, 127}),
        Line(points = {{-80, 80}, {-80, -60}, {80, -60}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p>d<i>y</i>/d<i>t</i> = <i>k u</i>.</p>
</html>"));
  end Integrator;

  block Derivative "Derivative, smoothed so that it exists"
    extends Bases.OneInput;
    parameter Units.Time k = 1 "Gain";
    parameter Units.Time T(min = 0) = 0.01 "Time constant of the smoothing";
    Real x "Smoothed input";
  initial equation
    x = u;
  equation
    assert(T > 0, "The time constant T is not positive");
    T*der(x) = u - x;
    y = k*(u - x)/T;
    annotation(Icon(graphics = {Line(points = {{-80, 80}, {-80, -60}, {80, -60}}, color = {0, 0, 0}),
        Line(points = {{-80, 60}, {-50, 10}, {-20, -20}, {80, -40}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>Transfer function <i>k s</i>/(<i>T s</i> + 1).</p>
</html>"));
  end Derivative;

  block FirstOrder "First order lag"
    extends Bases.OneInput;
    parameter Real k = 1 "Gain";
    parameter Units.Time T(min = 0) = 1 "Time constant";
    parameter Real y0 = 0 "Value at the start";
  initial equation
    y = y0;
  equation
    assert(T > 0, "The time constant T is not positive");
    T*der(y) = k*u - y;
    annotation(Icon(graphics = {Line(points = {{-80, 80}, {-80, -60}, {80, -60}}, color = {0, 0, 0}),
        Line(points = {{-80, -60}, {-50, -5}, {-20, 30}, {10, 50}, {80, 60}}, color = {0, 0, 127}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "T = %T")}),
      Documentation(info = "<html>
<p><i>T</i> d<i>y</i>/d<i>t</i> + <i>y</i> = <i>k u</i>.</p>
</html>"));
  end FirstOrder;

  block SecondOrder "Oscillation"
    extends Bases.OneInput;
    parameter Real k = 1 "Gain";
    parameter Units.AngularVelocity w(min = 0) = 1 "Angular frequency without damping";
    parameter Real D = 0.5 "Damping, 1 in the aperiodic limit";
    Real yd "Derivative of the output";
  initial equation
    y = 0;
    yd = 0;
  equation
    assert(w > 0, "The angular frequency w is not positive");
    der(y) = yd;
    der(yd) = w^2*(k*u - y) - 2*D*w*yd;
    annotation(Icon(graphics = {Line(points = {{-80, 80}, {-80, -60}, {80, -60}}, color = {0, 0, 0}),
        Line(points = {{-80, -60}, {-60, 0}, {-40, 50}, {-20, 60}, {0, 40}, {20, 25}, {40, 30}, {60, 35}, {80, 33}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>d&sup2;<i>y</i>/d<i>t</i>&sup2; + 2<i>D&omega;</i> d<i>y</i>/d<i>t</i> + <i>&omega;</i>&sup2;<i>y</i> = <i>&omega;</i>&sup2;<i>k u</i>.</p>
</html>"));
  end SecondOrder;

  block PI "Proportional and integral controller"
    extends Bases.OneInput;
    parameter Real k = 1 "Gain";
    parameter Units.Time T(min = 0) = 1 "Time constant of the integral part";
    Real x "Integral part";
  initial equation
    x = 0;
  equation
    assert(T > 0, "The time constant T is not positive");
    T*der(x) = u;
    y = k*(u + x);
    annotation(Icon(graphics = {Text(extent = {{-60, 60}, {60, -60}}, textString = "PI")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>k</i> (<i>u</i> + &int;<i>u</i> d<i>t</i>/<i>T</i>).</p>
</html>"));
  end PI;

  block PID "Proportional, integral and derivative controller"
    extends Bases.OneInput;
    parameter Real k = 1 "Gain";
    parameter Units.Time Ti(min = 0) = 1 "Time constant of the integral part";
    parameter Units.Time Td(min = 0) = 0.1 "Time constant of the derivative part";
    parameter Real N(min = 0) = 10 "The derivative is smoothed with Td/N";
    Real x "Integral part";
    Real d "Smoothed input";
  initial equation
    x = 0;
    d = u;
  equation
    assert(Ti > 0, "The time constant Ti is not positive");
    assert(N > 0, "N is not positive: the derivative is smoothed with Td/N");
    Ti*der(x) = u;
    Td/N*der(d) = u - d;
    y = k*(u + x + N*(u - d));
    annotation(Icon(graphics = {Text(extent = {{-60, 60}, {60, -60}}, textString = "PID")}),
      Documentation(info = "<html>
<p>Transfer function <i>k</i> (1 + 1/(<i>T<sub>i</sub> s</i>) + <i>T<sub>d</sub> s</i>/(<i>T<sub>d</sub> s</i>/<i>N</i> + 1)). <i>T<sub>d</sub></i> has to be positive for a derivative part.</p>
</html>"));
  end PID;

  block StateSpace "Linear system by its matrices"
    extends Bases.Frame;
    parameter Real A[:, size(A, 1)] = [-1] "States on derivatives";
    parameter Real B[size(A, 1), :] = [1] "Inputs on derivatives";
    parameter Real C[:, size(A, 1)] = [1] "States on outputs";
    parameter Real D[size(C, 1), size(B, 2)] = zeros(size(C, 1), size(B, 2)) "Inputs on outputs";
    parameter Real x0[size(A, 1)] = zeros(size(A, 1)) "States at the start";
    Interfaces.RealInput u[size(B, 2)] "Inputs" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
    Interfaces.RealOutput y[size(C, 1)] "Outputs" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
    Real x[size(A, 1)] "States";
  initial equation
    x = x0;
  equation
    der(x) = A*x + B*u;
    y = C*x + D*u;
    annotation(Icon(graphics = {Text(extent = {{-80, 80}, {0, 0}}, textString = "A"),
        Text(extent = {{0, 80}, {80, 0}}, textString = "B"),
        Text(extent = {{-80, 0}, {0, -80}}, textString = "C"),
        Text(extent = {{0, 0}, {80, -80}}, textString = "D")}),
      Documentation(info = "<html>
<p>d<b>x</b>/d<i>t</i> = <b>A x</b> + <b>B u</b>, &nbsp; <b>y</b> = <b>C x</b> + <b>D u</b>. The sizes follow from the matrices.</p>
</html>"));
  end StateSpace;

  function numerator "Numerator of a transfer function, as long as the denominator"
    input Real b[:] "Coefficients of the numerator, highest power first";
    input Real a[:] "Coefficients of the denominator, highest power first";
    output Real bb[max(1, size(a, 1))] "Coefficients of the numerator, zeros first";
  protected
    Integer missing = size(bb, 1) - size(b, 1) "Number of the zeros";
  algorithm
    assert(size(a, 1) >= 1, "The denominator a has no coefficients");
    assert(a[1] <> 0, "The first coefficient of the denominator a is zero");
    assert(missing >= 0, "The numerator b has a higher degree than the denominator a");
    bb := zeros(size(bb, 1));
    for k in 1:size(b, 1) loop
      bb[missing + k] := b[k];
    end for;
    annotation(Documentation(info = "<html>
<p>Refuses transfer functions whose numerator has a higher degree, and denominators that begin with zero.</p>
</html>"));
  end numerator;

  block TransferFunction "Linear system by its transfer function"
    extends Bases.OneInput;
    parameter Real b[:] = {1} "Coefficients of the numerator, highest power first";
    parameter Real a[:] = {1, 1} "Coefficients of the denominator, highest power first";
    final parameter Integer n = max(0, size(a, 1) - 1) "Order";
    final parameter Real bb[n + 1] = numerator(b, a) "Numerator, as long as the denominator";
    Real x[n] "States, in the form of a controller";
  initial equation
    x = zeros(n);
  equation
    for k in 1:min(n, 1) loop
      der(x[k]) = (u - a[2:n + 1]*x)/a[1];
    end for;
    for k in 2:n loop
      der(x[k]) = x[k - 1];
    end for;
    y = (bb[2:n + 1] - bb[1]/a[1]*a[2:n + 1])*x + bb[1]/a[1]*u;
    annotation(Icon(graphics = {Text(extent = {{-80, 80}, {80, 10}}, textString = "b(s)"),
        Line(points = {{-70, 0}, {70, 0}}, color = {0, 0, 127}),
        Text(extent = {{-80, -10}, {80, -80}}, textString = "a(s)")}),
      Documentation(info = "<html>
<p>Transfer function <i>b</i>(<i>s</i>)/<i>a</i>(<i>s</i>); the numerator has no higher degree than the denominator. One of degree zero is a gain.</p>
</html>"));
  end TransferFunction;
end Continuous;
