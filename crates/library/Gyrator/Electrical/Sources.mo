within Gyrator.Electrical;
package Sources "Voltages and currents that are given"
  extends Icons.SourcesFolder;

  partial model VoltageSource "Voltage from p to n that does not depend on the current"
    extends Bases.TwoPin;
    annotation(Icon(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {90, 0}}, color = {0, 0, 255}),
        Text(extent = {{-90, 50}, {-50, 10}}, textString = "+"),
        Text(extent = {{50, 50}, {90, 10}}, textString = "-")}));
  end VoltageSource;

  partial model CurrentSource "Current from p to n that does not depend on the voltage"
    extends Bases.TwoPin;
    annotation(Icon(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-50, 0}}, color = {0, 0, 255}),
        Line(points = {{50, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{0, -50}, {0, 50}}, color = {0, 0, 255}),
        Line(points = {{-90, 20}, {-60, 20}}, color = {0, 0, 255}, arrow = {Arrow.None, Arrow.Filled})}));
  end CurrentSource;

  model ConstantVoltage "Constant voltage, such as a battery"
    extends VoltageSource;
    parameter Units.Voltage V = 1 "Voltage";
  equation
    u = V;
    annotation(Icon(graphics = {Text(extent = {{-150, -110}, {150, -140}}, textString = "V = %V")}),
      Documentation(info = "<html>
<p><i>u</i> = <i>V</i>.</p>
</html>"));
  end ConstantVoltage;

  model StepVoltage "Voltage that steps at an instant"
    extends VoltageSource;
    parameter Units.Voltage V = 1 "Voltage after the step";
    parameter Units.Voltage V0 = 0 "Voltage before the step";
    parameter Units.Time startTime = 0 "Instant of the step";
  equation
    u = if time < startTime then V0 else V;
    annotation(Icon(graphics = {Line(points = {{-30, -20}, {0, -20}, {0, 20}, {30, 20}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "V = %V")}),
      Documentation(info = "<html>
<p><i>u</i> = <i>V</i><sub>0</sub> before <code>startTime</code> and <i>V</i> from then on.</p>
</html>"));
  end StepVoltage;

  model SineVoltage "Sinusoidal voltage, such as the mains"
    extends VoltageSource;
    parameter Units.Voltage V = 1 "Amplitude";
    parameter Units.Frequency f = 50 "Frequency";
    parameter Units.Angle phase = 0 "Phase at time zero";
  equation
    u = V*sin(2*Units.pi*f*time + phase);
    annotation(Icon(graphics = {Text(extent = {{-40, 40}, {40, -40}}, textString = "~"),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "V = %V")}),
      Documentation(info = "<html>
<p><i>u</i> = <i>V</i> sin(2&pi;<i>f t</i> + <i>&phi;</i>).</p>
</html>"));
  end SineVoltage;

  model SignalVoltage "Voltage given by a signal"
    extends VoltageSource annotation(IconMap(primitivesVisible = false));
    Interfaces.RealInput v(unit = "V") "Voltage" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    u = v;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {90, 0}}, color = {0, 0, 255}),
        Text(extent = {{-90, 50}, {-50, 10}}, textString = "+"),
        Text(extent = {{50, 50}, {90, 10}}, textString = "-"),
        Line(points = {{0, 90}, {0, 50}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>u</i> is the signal.</p>
</html>"));
  end SignalVoltage;

  model ConstantCurrent "Constant current"
    extends CurrentSource;
    parameter Units.Current I = 1 "Current";
  equation
    i = I;
    annotation(Icon(graphics = {Text(extent = {{-150, -110}, {150, -140}}, textString = "I = %I")}),
      Documentation(info = "<html>
<p><i>i</i> = <i>I</i>.</p>
</html>"));
  end ConstantCurrent;

  model SineCurrent "Sinusoidal current"
    extends CurrentSource;
    parameter Units.Current I = 1 "Amplitude";
    parameter Units.Frequency f = 50 "Frequency";
    parameter Units.Angle phase = 0 "Phase at time zero";
  equation
    i = I*sin(2*Units.pi*f*time + phase);
    annotation(Icon(graphics = {Text(extent = {{-150, -110}, {150, -140}}, textString = "I = %I")}),
      Documentation(info = "<html>
<p><i>i</i> = <i>I</i> sin(2&pi;<i>f t</i> + <i>&phi;</i>).</p>
</html>"));
  end SineCurrent;

  model SignalCurrent "Current given by a signal"
    extends CurrentSource annotation(IconMap(primitivesVisible = false));
    Interfaces.RealInput c(unit = "A") "Current" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    i = c;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-50, 0}}, color = {0, 0, 255}),
        Line(points = {{50, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{0, -50}, {0, 50}}, color = {0, 0, 255}),
        Line(points = {{-90, 20}, {-60, 20}}, color = {0, 0, 255}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{0, 90}, {0, 50}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>i</i> is the signal.</p>
</html>"));
  end SignalCurrent;
end Sources;
