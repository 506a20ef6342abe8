within Gyrator.Examples.DriveTrains;
partial model GearboxInterface "Two shafts and the signals that press seven clutches and brakes"
  Interfaces.Flange a "From the turbine" annotation(Placement(transformation(extent = {{-210, -10}, {-190, 10}}), iconTransformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.Flange b "To the differential" annotation(Placement(transformation(extent = {{250, -10}, {270, 10}}), iconTransformation(extent = {{90, -10}, {110, 10}})));
  Interfaces.RealInput f[7] "Pressing signals of C4, C5, C6, C7, C8, C11, C12" annotation(Placement(transformation(origin = {0, 160}, extent = {{-10, -10}, {10, 10}}, rotation = -90), iconTransformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
      Rectangle(extent = {{-100, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{-70, 70}, {70, -70}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Text(extent = {{-60, 40}, {60, -40}}, textString = "4 speed")}));
end GearboxInterface;
