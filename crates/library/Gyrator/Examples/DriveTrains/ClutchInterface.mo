within Gyrator.Examples.DriveTrains;
partial model ClutchInterface "Two flanges and the signal that presses"
  Interfaces.Flange a "Left flange" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.Flange b "Right flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Interfaces.RealInput f "Normal force by its largest value" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255})}));
end ClutchInterface;
