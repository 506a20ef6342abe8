within Gyrator.Examples.DriveTrains;
model RavigneauxRatios "Ratios of a Ravigneaux set with its carrier held, then with its large sun held"
  extends Icons.Example;
  Rotational.Basic.ConstantSpeed drive(w = 100) annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
  Rotational.Meshings.RavigneauxSet first(zs1 = 30, zs2 = 38, zp1 = 20, zp2 = 19, zr = 76) "Carrier held" annotation(Placement(transformation(extent = {{-10, 30}, {10, 50}})));
  Rotational.Meshings.RavigneauxSet second(zs1 = 30, zs2 = 38, zp1 = 20, zp2 = 19, zr = 76) "Large sun held" annotation(Placement(transformation(extent = {{-10, -50}, {10, -30}})));
  Rotational.Basic.Housing housing annotation(Placement(transformation(extent = {{-40, -90}, {-20, -70}})));
  Rotational.Basic.Inertia load1(J = 0.1) annotation(Placement(transformation(extent = {{40, 30}, {60, 50}})));
  Rotational.Basic.Inertia load2(J = 0.1) annotation(Placement(transformation(extent = {{40, -50}, {60, -30}})));
  Real ratio1 = drive.w/load1.w "zr/zs1";
  Real ratio2 = drive.w/load2.w "(1 + zs2/zs1)/(1 + zs2/zr)";
equation
  connect(drive.flange, first.sun1) annotation(Line(points = {{-50, 0}, {-30, 0}, {-30, 40}, {-10, 40}}, color = {100, 100, 100}));
  connect(drive.flange, second.sun1) annotation(Line(points = {{-50, 0}, {-30, 0}, {-30, -40}, {-10, -40}}, color = {100, 100, 100}));
  connect(first.carrier, housing.flange) annotation(Line(points = {{-10, 46}, {-20, 46}, {-20, -62}, {-30, -62}, {-30, -70}}, color = {100, 100, 100}));
  connect(second.sun2, housing.flange) annotation(Line(points = {{-10, -46}, {-20, -46}, {-20, -62}, {-30, -62}, {-30, -70}}, color = {100, 100, 100}));
  connect(first.ring, load1.a) annotation(Line(points = {{10, 40}, {40, 40}}, color = {100, 100, 100}));
  connect(second.ring, load2.a) annotation(Line(points = {{10, -40}, {40, -40}}, color = {100, 100, 100}));
  annotation(experiment(StopTime = 1),
    Documentation(info = "<html>
<p>With the carrier held the ratio is <i>z<sub>r</sub></i>/<i>z</i><sub>s1</sub>; with the large sun held it is (1 + <i>z</i><sub>s2</sub>/<i>z</i><sub>s1</sub>)/(1 + <i>z</i><sub>s2</sub>/<i>z<sub>r</sub></i>).</p>
</html>"));
end RavigneauxRatios;
