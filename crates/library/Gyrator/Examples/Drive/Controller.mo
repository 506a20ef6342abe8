within Gyrator.Examples.Drive;
block Controller "Cascade: the error of the angle asks for a speed, the error of the speed for a voltage"
  extends Blocks.Bases.Frame;
  parameter Real kp(unit = "1/s") = 8 "Gain of the angle";
  parameter Real kv(unit = "V.s/rad") = 2 "Gain of the speed";
  parameter Units.Voltage uMax = 60 "Largest voltage";
  Interfaces.RealInput reference(unit = "rad") "Angle that is asked for" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Interfaces.RealInput measured[3] "Current, speed and angle of the motor" annotation(Placement(transformation(origin = {0, -120}, extent = {{-20, -20}, {20, 20}}, rotation = 90)));
  Interfaces.RealOutput u(unit = "V") "Voltage" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  Units.AngularVelocity wanted "Speed that is asked for";
  Units.Voltage ideal "Voltage without limit";
equation
  wanted = kp*(reference - measured[3]);
  ideal = kv*(wanted - measured[2]);
  u = if ideal > uMax then uMax else if ideal < -uMax then -uMax else ideal;
  annotation(Icon(graphics = {Text(extent = {{-80, 60}, {80, -60}}, textString = "P-P")}),
    Documentation(info = "<html>
<p><i>u</i> = <i>k<sub>v</sub></i> (<i>k<sub>p</sub></i> (<i>&phi;</i><sub>ref</sub> &minus; <i>&phi;</i>) &minus; <i>&omega;</i>), limited.</p>
</html>"));
end Controller;
