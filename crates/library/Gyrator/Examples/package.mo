within Gyrator;
package Examples "Complete models"
  annotation(Icon(graphics = {Polygon(points = {{-60, 70}, {80, 0}, {-60, -70}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html>
<p>Models of all domains that run as they are: <code>gyrator simulate Gyrator.Examples.DriveTrains.FourSpeedVehicle --plot</code>.</p>
</html>"));
end Examples;
