within Gyrator.Examples.DriveTrains;
block Driver "Throttle, brake and gear of a drive: away, through all gears, and to a stop"
  extends Blocks.Bases.Frame;
  Interfaces.RealOutput throttle "Throttle" annotation(Placement(transformation(extent = {{100, 50}, {120, 70}})));
  Interfaces.RealOutput brake "Brake" annotation(Placement(transformation(extent = {{100, -70}, {120, -50}})));
  Interfaces.IntegerOutput gear "Gear" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
equation
  throttle = if time < 1 then 0 else if time < 1.5 then 0.6*(time - 1)/0.5 else if time < 20 then 0.6 else if time < 20.5 then 0.6*(20.5 - time)/0.5 else 0;
  brake = if time < 1 or time > 21 then 0.5 else 0;
  gear = if time < 5 then 1 else if time < 9 then 2 else if time < 14 then 3 else if time < 23 then 4 else if time < 25 then 3 else if time < 27 then 2 else 1;
  annotation(Icon(graphics = {Ellipse(extent = {{-40, 80}, {40, 0}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Line(points = {{0, 0}, {0, -60}}, color = {0, 0, 0}),
      Line(points = {{-40, -30}, {40, -30}}, color = {0, 0, 0})}),
    Documentation(info = "<html>
<p>Full gears upward from 5 s on, off the throttle at 20 s, brake from 21 s on, and gears downward.</p>
</html>"));
end Driver;
