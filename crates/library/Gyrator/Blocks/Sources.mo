within Gyrator.Blocks;
package Sources "Signals that are functions of time"
  extends Icons.SourcesFolder;

  block Constant "Constant signal"
    extends Bases.Source;
    parameter Real k = 1 "Value";
  equation
    y = k;
    annotation(Icon(graphics = {Line(points = {{-80, 0}, {80, 0}}, color = {0, 0, 127}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "k = %k")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>k</i>.</p>
</html>"));
  end Constant;

  block Step "Step"
    extends Bases.Source;
    parameter Real height = 1 "Height of the step";
    parameter Real offset = 0 "Value before the step";
    parameter Units.Time startTime = 0 "Instant of the step";
  equation
    y = offset + (if time < startTime then 0 else height);
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {0, -60}, {0, 60}, {80, 60}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>A step of a height at <code>startTime</code>.</p>
</html>"));
  end Step;

  block Ramp "Ramp"
    extends Bases.Source;
    parameter Real height = 1 "Height of the ramp";
    parameter Units.Time duration(min = 0) = 1 "Duration of the ramp";
    parameter Real offset = 0 "Value before the ramp";
    parameter Units.Time startTime = 0 "Where the ramp begins";
  equation
    assert(duration >= 0, "The duration of the ramp is negative");
    y = offset + (if time < startTime then 0 else if time < startTime + duration then height*(time - startTime)/duration else height);
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-30, -60}, {30, 60}, {80, 60}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>Rises with a constant slope from <code>startTime</code> on for <code>duration</code>.</p>
</html>"));
  end Ramp;

  block Sine "Sine"
    extends Bases.Source;
    parameter Real amplitude = 1 "Amplitude";
    parameter Units.Frequency f = 1 "Frequency";
    parameter Units.Angle phase = 0 "Phase at the start";
    parameter Real offset = 0 "Mean value";
  equation
    y = offset + amplitude*sin(2*Units.pi*f*time + phase);
    annotation(Icon(graphics = {Line(points = {{-80, 0}, {-60, 45}, {-40, 60}, {-20, 45}, {0, 0}, {20, -45}, {40, -60}, {60, -45}, {80, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>y</i> = <i>y</i><sub>0</sub> + <i>A</i> sin(2&pi;<i>f t</i> + <i>&phi;</i>).</p>
</html>"));
  end Sine;

  block Pulse "Rectangular pulses"
    extends Bases.Source;
    parameter Real amplitude = 1 "Height of the pulses";
    parameter Units.Time period(min = 0) = 1 "Distance of the pulses";
    parameter Real width(min = 0, max = 1) = 0.5 "Part of the period that a pulse takes";
    parameter Real offset = 0 "Value between the pulses";
    parameter Units.Time startTime = 0 "Where the first pulse begins";
  equation
    assert(period > 0, "The distance of the pulses, period, is not positive");
    y = offset + (if time >= startTime and mod(time - startTime, period) < width*period then amplitude else 0);
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-60, -60}, {-60, 60}, {-20, 60}, {-20, -60}, {20, -60}, {20, 60}, {60, 60}, {60, -60}, {80, -60}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>Each period begins with a pulse.</p>
</html>"));
  end Pulse;

  block BooleanStep "Logical signal that becomes true"
    extends Bases.Frame;
    parameter Units.Time startTime = 0 "When it becomes true";
    Interfaces.BooleanOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = time >= startTime;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {0, -60}, {0, 60}, {80, 60}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p>True from <code>startTime</code> on.</p>
</html>"));
  end BooleanStep;

  block BooleanPulse "Logical pulses"
    extends Bases.Frame;
    parameter Units.Time period(min = 0) = 1 "Distance of the pulses";
    parameter Real width(min = 0, max = 1) = 0.5 "Part of the period that a pulse takes";
    parameter Units.Time startTime = 0 "Where the first pulse begins";
    Interfaces.BooleanOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    assert(period > 0, "The distance of the pulses, period, is not positive");
    y = time >= startTime and mod(time - startTime, period) < width*period;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-60, -60}, {-60, 60}, {-20, 60}, {-20, -60}, {20, -60}, {20, 60}, {60, 60}, {60, -60}, {80, -60}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p>Each period begins with a pulse.</p>
</html>"));
  end BooleanPulse;

  block BooleanTable "Logical signal that changes at given instants"
    extends Bases.Frame;
    parameter Boolean startValue = false "Value before the first instant";
    parameter Units.Time instants[:] = {1} "Instants of the changes, in ascending order";
    Interfaces.BooleanOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  protected
    Integer passed "Number of instants that are over";
  equation
    assert(Tables.isAscending(instants), "The instants are not in ascending order");
    passed = sum({if time >= instants[k] then 1 else 0 for k in 1:size(instants, 1)});
    y = if mod(passed, 2) == 0 then startValue else not startValue;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-50, -60}, {-50, 60}, {0, 60}, {0, -60}, {20, -60}, {20, 60}, {80, 60}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p>The value changes at each of the instants.</p>
</html>"));
  end BooleanTable;
end Sources;
