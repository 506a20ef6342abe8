within Gyrator.Examples.Drive;
model HeatedDivider "The circuit with resistors that warm up, all of them by one redeclaration"
  extends Divider(redeclare model Element = Electrical.Basic.HeatingResistor(alpha = 0.01, Tref = 293.15));
  Heat.Capacity mass[3](each C = 0.5, each T(start = 293.15, fixed = true)) annotation(Placement(transformation(extent = {{-10, 70}, {10, 90}})));
equation
  connect(R1.heat, mass[1].port) annotation(Line(points = {{-20, 30}, {-20, 24}, {0, 24}, {0, 70}}, color = {191, 0, 0}));
  connect(R2.heat, mass[2].port) annotation(Line(points = {{20, 30}, {20, 24}, {0, 24}, {0, 70}}, color = {191, 0, 0}));
  connect(R3.heat, mass[3].port) annotation(Line(points = {{30, -6.12323e-16}, {0, -6.12323e-16}, {0, 70}}, color = {191, 0, 0}));
  annotation(experiment(StopTime = 10),
    Documentation(info = "<html>
<p>Each resistor warms its own mass, so that the current falls.</p>
</html>"));
end HeatedDivider;
