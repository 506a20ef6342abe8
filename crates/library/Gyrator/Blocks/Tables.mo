within Gyrator.Blocks;
package Tables "Characteristics given by points, linear between them"
  extends Icons.Folder;

  function interpolate "Value of a broken line"
    input Real x[:] "Abscissas, in ascending order";
    input Real y[size(x, 1)] "Ordinates";
    input Real u "Where to look; beyond the ends the first or last piece goes on";
    output Real v "Value";
  protected
    Integer k "Left end of the piece";
  algorithm
    assert(size(x, 1) >= 2, notALine);
    k := 1;
    while k < size(x, 1) - 1 and u > x[k + 1] loop
      k := k + 1;
    end while;
    v := y[k] + (y[k + 1] - y[k])*(u - x[k])/(x[k + 1] - x[k]);
    annotation(Documentation(info = "<html>
<p>Linear between the points and beyond them.</p>
</html>"));
  end interpolate;

  constant String notALine = "The table is no broken line: it needs two points at least, abscissas in ascending order, and at either end two that differ" "Message";

  function isAscending "Whether no number of a list is smaller than the one before"
    input Real x[:] "Numbers";
    output Boolean ascending "Whether they ascend";
  algorithm
    ascending := true;
    for k in 2:size(x, 1) loop
      ascending := ascending and x[k - 1] <= x[k];
    end for;
    annotation(Documentation(info = "<html>
<p>Equal numbers count as ascending: a broken line steps there.</p>
</html>"));
  end isAscending;

  function isBrokenLine "Whether abscissas are those of a broken line that goes on at its ends"
    input Real x[:] "Abscissas";
    output Boolean is "Whether they are";
  protected
    Integer n = size(x, 1) "Number of points";
  algorithm
    is := n >= 2 and isAscending(x);
    if is then
      is := x[1] < x[2] and x[n - 1] < x[n];
    end if;
    annotation(Documentation(info = "<html>
<p>There are two points at least, their abscissas ascend, and the first and last pieces have a slope.</p>
</html>"));
  end isBrokenLine;

  block Table1D "Characteristic of one variable"
    extends Bases.OneInput;
    parameter Real table[:, 2] = [0, 0; 1, 1] "Abscissas in ascending order, ordinates";
  equation
    assert(isBrokenLine(table[:, 1]), notALine);
    y = interpolate(table[:, 1], table[:, 2], u);
    annotation(Icon(graphics = {Rectangle(extent = {{-80, 80}, {80, -80}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-80, 40}, {80, 40}}, color = {0, 0, 127}),
        Line(points = {{-80, 0}, {80, 0}}, color = {0, 0, 127}),
        Line(points = {{-80, -40}, {80, -40}}, color = {0, 0, 127}),
        Line(points = {{0, 80}, {0, -80}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>A broken line through the points; beyond them its first and last pieces go on.</p>
</html>"));
  end Table1D;

  block Table2D "Characteristic of two variables"
    extends Bases.TwoInputs;
    parameter Real x1[:] = {0, 1} "Abscissas of the first input, in ascending order";
    parameter Real x2[:] = {0, 1} "Abscissas of the second input, in ascending order";
    parameter Real table[size(x1, 1), size(x2, 1)] = [0, 0; 0, 1] "Ordinates";
  protected
    Real rows[size(x1, 1)] "Values on the rows, at the second input";
  equation
    assert(isBrokenLine(x1) and isBrokenLine(x2), notALine);
    for k in 1:size(x1, 1) loop
      rows[k] = interpolate(x2, table[k, :], u2);
    end for;
    y = interpolate(x1, rows, u1);
    annotation(Icon(graphics = {Rectangle(extent = {{-80, 80}, {80, -80}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-80, 40}, {80, 40}}, color = {0, 0, 127}),
        Line(points = {{-80, 0}, {80, 0}}, color = {0, 0, 127}),
        Line(points = {{-80, -40}, {80, -40}}, color = {0, 0, 127}),
        Line(points = {{-30, 80}, {-30, -80}}, color = {0, 0, 127}),
        Line(points = {{30, 80}, {30, -80}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>Bilinear between the points of a grid.</p>
</html>"));
  end Table2D;

  block TimeTable "Signal given by points over time"
    extends Bases.Source;
    parameter Real table[:, 2] = [0, 0; 1, 1] "Times in ascending order, values";
  protected
    Integer k(start = 1) "Piece that holds now";
  equation
    assert(isBrokenLine(table[:, 1]), notALine);
    k = 1 + sum({if time >= table[j, 1] then 1 else 0 for j in 2:size(table, 1) - 1});
    y = table[k, 2] + (table[k + 1, 2] - table[k, 2])*(time - table[k, 1])/(table[k + 1, 1] - table[k, 1]);
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-40, 20}, {-10, -20}, {30, 60}, {80, 40}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>A broken line over time, with an event at each of its corners; beyond them its first and last pieces go on.</p>
</html>"));
  end TimeTable;
end Tables;
