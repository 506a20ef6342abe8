within Gyrator.Blocks;
package Discrete "Sampled systems: values change at regular instants only"
  extends Icons.Folder;

  block Sampler "Sample and hold"
    extends Bases.Sampled;
  equation
    when now then
      y = u;
    end when;
    annotation(Icon(graphics = {Ellipse(extent = {{-50, 10}, {-30, -10}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-50, 0}}, color = {0, 0, 127}),
        Line(points = {{-34, 8}, {30, 40}}, color = {0, 0, 127}),
        Line(points = {{40, 0}, {90, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>The output is the input at the last instant.</p>
</html>"));
  end Sampler;

  block UnitDelay "Output is the input one period before"
    extends Bases.Sampled;
    parameter Real y0 = 0 "Output before the second instant";
    Real last(start = y0, fixed = true) "Input at the last instant";
  equation
    when now then
      last = u;
      y = pre(last);
    end when;
  initial equation
    pre(y) = y0;
    annotation(Icon(graphics = {Text(extent = {{-60, 60}, {60, -60}}, textString = "1/z")}),
      Documentation(info = "<html>
<p><i>y<sub>k</sub></i> = <i>u</i><sub><i>k</i>&minus;1</sub>.</p>
</html>"));
  end UnitDelay;

  block SampledPI "Sampled proportional and integral controller"
    extends Bases.Sampled;
    parameter Real k = 1 "Gain";
    parameter Units.Time T(min = 0) = 1 "Time constant of the integral part";
    Real x(start = 0, fixed = true) "Integral part";
  equation
    assert(T > 0, "The time constant T is not positive");
    when now then
      x = pre(x) + period/T*u;
      y = k*(u + x);
    end when;
    annotation(Icon(graphics = {Text(extent = {{-60, 60}, {60, -60}}, textString = "PI(z)")}),
      Documentation(info = "<html>
<p><i>x<sub>k</sub></i> = <i>x</i><sub><i>k</i>&minus;1</sub> + <i>u<sub>k</sub></i> <i>T<sub>s</sub></i>/<i>T</i>, &nbsp; <i>y<sub>k</sub></i> = <i>k</i> (<i>u<sub>k</sub></i> + <i>x<sub>k</sub></i>).</p>
</html>"));
  end SampledPI;

  block SampledFilter "Sampled first order lag"
    extends Bases.Sampled;
    parameter Real a(min = 0, max = 1) = 0.5 "How much of the last output stays";
    parameter Real y0 = 0 "Output before the first instant";
  initial equation
    pre(y) = y0;
  equation
    when now then
      y = a*pre(y) + (1 - a)*u;
    end when;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-50, -60}, {-50, -20}, {-20, -20}, {-20, 10}, {10, 10}, {10, 30}, {40, 30}, {40, 45}, {80, 45}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>y<sub>k</sub></i> = <i>a y</i><sub><i>k</i>&minus;1</sub> + (1 &minus; <i>a</i>) <i>u<sub>k</sub></i>.</p>
</html>"));
  end SampledFilter;
end Discrete;
