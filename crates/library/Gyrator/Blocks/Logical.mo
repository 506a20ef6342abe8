within Gyrator.Blocks;
package Logical "Logical blocks: combinations, comparisons, memory"
  extends Icons.Folder;

  block And "True while both inputs are"
    extends Bases.BooleanTwoInputs;
  equation
    y = u1 and u2;
    annotation(Icon(graphics = {Text(extent = {{-80, 40}, {80, -40}}, textString = "and")}),
      Documentation(info = "<html>
<p><code>y = u1 and u2</code>.</p>
</html>"));
  end And;

  block Or "True while one of the inputs is"
    extends Bases.BooleanTwoInputs;
  equation
    y = u1 or u2;
    annotation(Icon(graphics = {Text(extent = {{-80, 40}, {80, -40}}, textString = "or")}),
      Documentation(info = "<html>
<p><code>y = u1 or u2</code>.</p>
</html>"));
  end Or;

  block Not "True while the input is false"
    extends Bases.BooleanOneInput;
  equation
    y = not u;
    annotation(Icon(graphics = {Text(extent = {{-80, 40}, {80, -40}}, textString = "not")}),
      Documentation(info = "<html>
<p><code>y = not u</code>.</p>
</html>"));
  end Not;

  block GreaterThan "Compares a signal with a threshold"
    extends Bases.Frame;
    parameter Real threshold = 0 "Threshold";
    Interfaces.RealInput u "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
    Interfaces.BooleanOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = u > threshold;
    annotation(Icon(graphics = {Text(extent = {{-80, 40}, {80, -40}}, textString = ">")}),
      Documentation(info = "<html>
<p><code>y = u &gt; threshold</code>.</p>
</html>"));
  end GreaterThan;

  block Hysteresis "Becomes true above an upper limit and false below a lower one"
    extends Bases.Frame;
    parameter Real low = -1 "Lower limit";
    parameter Real high = 1 "Upper limit";
    parameter Boolean startValue = false "Value before the start";
    Interfaces.RealInput u "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
    Interfaces.BooleanOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  initial equation
    pre(y) = startValue;
  equation
    assert(low <= high, "The lower limit low is above the upper limit high");
    y = u > high or pre(y) and u >= low;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {30, -60}, {30, 60}, {80, 60}}, color = {0, 0, 127}),
        Line(points = {{-30, -60}, {-30, 60}, {30, 60}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><code>y = u &gt; high or pre(y) and u &gt;= low</code>.</p>
</html>"));
  end Hysteresis;

  block FlipFlop "Memory that one input sets and the other one resets"
    extends Bases.Frame;
    parameter Boolean startValue = false "Value before the start";
    Interfaces.BooleanInput set "Makes it true" annotation(Placement(transformation(extent = {{-140, 40}, {-100, 80}})));
    Interfaces.BooleanInput reset "Makes it false, also against set" annotation(Placement(transformation(extent = {{-140, -80}, {-100, -40}})));
    Interfaces.BooleanOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  initial equation
    pre(y) = startValue;
  equation
    y = not reset and (set or pre(y));
    annotation(Icon(graphics = {Text(extent = {{-90, 80}, {-30, 40}}, textString = "S"),
        Text(extent = {{-90, -40}, {-30, -80}}, textString = "R")}),
      Documentation(info = "<html>
<p><code>y = not reset and (set or pre(y))</code>.</p>
</html>"));
  end FlipFlop;

  block Edge "True for the instant at which the input becomes true"
    extends Bases.BooleanOneInput;
  equation
    y = edge(u);
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {0, -60}, {0, 60}, {0, -60}, {80, -60}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p><code>y = edge(u)</code>.</p>
</html>"));
  end Edge;

  block Choice "Passes on one of two signals"
    extends Bases.Frame;
    Interfaces.RealInput u1 "Passed on while the condition is true" annotation(Placement(transformation(extent = {{-140, 40}, {-100, 80}})));
    Interfaces.BooleanInput condition "Condition" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
    Interfaces.RealInput u2 "Passed on while the condition is false" annotation(Placement(transformation(extent = {{-140, -80}, {-100, -40}})));
    Interfaces.RealOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = if condition then u1 else u2;
    annotation(Icon(graphics = {Line(points = {{-90, 60}, {-40, 60}}, color = {0, 0, 127}),
        Line(points = {{-90, -60}, {-40, -60}}, color = {0, 0, 127}),
        Line(points = {{-90, 0}, {-20, 0}}, color = {255, 0, 255}),
        Line(points = {{-40, 60}, {60, 0}, {90, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><code>y = if condition then u1 else u2</code>.</p>
</html>"));
  end Choice;

  block Timer "Time since the input became true"
    extends Bases.Frame;
    Interfaces.BooleanInput u "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
    Interfaces.RealOutput y(unit = "s") "Time since it became true, zero while it is false" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
    discrete Units.Time entry(start = 0, fixed = true) "When it became true";
  initial equation
    pre(u) = false;
  equation
    when u then
      entry = time;
    end when;
    y = if u then time - entry else 0;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-40, -60}, {20, 60}, {20, -60}, {50, -60}, {80, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>Counts seconds while the input is true.</p>
</html>"));
  end Timer;
end Logical;
