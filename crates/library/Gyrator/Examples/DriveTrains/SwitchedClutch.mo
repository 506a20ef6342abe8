within Gyrator.Examples.DriveTrains;
model SwitchedClutch "Ideal clutch that engages where the pressing signal is large enough"
  extends Rotational.Ideal.Clutch(engaged = f > 0.5);
  Interfaces.RealInput f "Normal force by its largest value" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  annotation(Documentation(info = "<html>
<p>It has the connectors of a clutch with friction and so may replace it.</p>
</html>"));
end SwitchedClutch;
