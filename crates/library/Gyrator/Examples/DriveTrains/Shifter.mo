within Gyrator.Examples.DriveTrains;
block Shifter "Shift table and pressure of the seven clutches and brakes"
  extends Blocks.Bases.Frame;
  parameter Units.Time T = 0.06 "Time constant of the pressure";
  constant Real table[6, 7] = [
    0, 0, 0, 0, 0, 0, 0;
    1, 0, 0, 0, 0, 1, 0;
    1, 0, 1, 1, 0, 1, 0;
    1, 1, 0, 1, 0, 1, 0;
    1, 1, 0, 1, 0, 0, 1;
    0, 1, 0, 0, 1, 1, 0] "Rows: neutral, gears 1 to 4, reverse. Columns: C4, C5, C6, C7, C8, C11, C12";
  Interfaces.IntegerInput gear "0 neutral, 1 to 4, 5 reverse" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Interfaces.RealOutput f[7] "Pressing signals" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  Real p[7](each start = 0, each fixed = true) "Pressure by its largest value";
equation
  for k in 1:7 loop
    T*der(p[k]) = table[gear + 1, k] - p[k];
    f[k] = (p[k] - 0.1)/0.9;
  end for;
  annotation(Icon(graphics = {Text(extent = {{-80, 60}, {80, -60}}, textString = "gear")}),
    Documentation(info = "<html>
<p>The pressure follows the shift table with a lag. Below a tenth of its largest value it does not overcome the springs, and the disks are free.</p>
</html>"));
end Shifter;
