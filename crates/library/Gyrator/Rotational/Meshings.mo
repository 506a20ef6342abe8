within Gyrator.Rotational;
package Meshings "Pairs of wheels on a carrier, of which every planetary gear can be built"
  extends Icons.Folder;

  model OuterOuter "Two outer wheels that mesh, on a carrier"
    parameter Integer z1(min = 1) = 20 "Number of teeth of wheel 1";
    parameter Integer z2(min = 1) = 20 "Number of teeth of wheel 2";
    final parameter Real i1 = z1/(z1 + z2);
    final parameter Real i2 = z2/(z1 + z2);
    Interfaces.Flange carrier "Carrier of both wheels" annotation(Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
    Interfaces.Flange wheel1 "Wheel 1" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Flange wheel2 "Wheel 2" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    carrier.phi = i1*wheel1.phi + i2*wheel2.phi;
    0 = wheel1.tau + i1*carrier.tau;
    0 = wheel2.tau + i2*carrier.tau;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-80, 40}, {0, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{0, 40}, {80, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 60}, {40, 60}, {40, 0}}, color = {0, 0, 0}),
        Line(points = {{-40, 60}, {-40, 0}}, color = {0, 0, 0}),
        Text(extent = {{-70, 20}, {-10, -20}}, textString = "1"),
        Text(extent = {{10, 20}, {70, -20}}, textString = "2"),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "%z1 : %z2")}),
      Documentation(info = "<html>
<p>The pitch circles roll on each other: (<i>z</i><sub>1</sub> + <i>z</i><sub>2</sub>) <i>&phi;</i><sub>0</sub> = <i>z</i><sub>1</sub> <i>&phi;</i><sub>1</sub> + <i>z</i><sub>2</sub> <i>&phi;</i><sub>2</sub>. No power is lost, so
<i>&tau;</i><sub>1</sub> = &minus;<i>i</i><sub>1</sub> <i>&tau;</i><sub>0</sub> and <i>&tau;</i><sub>2</sub> = &minus;<i>i</i><sub>2</sub> <i>&tau;</i><sub>0</sub> with <i>i<sub>j</sub></i> = <i>z<sub>j</sub></i>/(<i>z</i><sub>1</sub> + <i>z</i><sub>2</sub>).</p>
</html>"));
  end OuterOuter;

  model OuterInner "An outer wheel inside of a ring, on a carrier"
    parameter Integer z1(min = 1) = 20 "Number of teeth of the outer wheel";
    parameter Integer z2(min = 1) = 60 "Number of teeth of the ring, larger than z1";
    final parameter Real i1 = z1/(z2 - z1);
    final parameter Real i2 = z2/(z2 - z1);
    Interfaces.Flange carrier "Carrier of the wheel" annotation(Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
    Interfaces.Flange wheel1 "Outer wheel" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Flange wheel2 "Ring" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    assert(z2 > z1, "The ring has no more teeth than the wheel inside of it: z2 has to be larger than z1");
    carrier.phi = i2*wheel2.phi - i1*wheel1.phi;
    wheel1.tau = i1*carrier.tau;
    0 = i2*carrier.tau + wheel2.tau;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-80, 80}, {80, -80}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-70, 70}, {70, -70}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-70, 30}, {-10, -30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 60}, {-40, 60}, {-40, 0}}, color = {0, 0, 0}),
        Text(extent = {{-60, 20}, {-20, -20}}, textString = "1"),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "%z1 : %z2")}),
      Documentation(info = "<html>
<p>(<i>z</i><sub>2</sub> &minus; <i>z</i><sub>1</sub>) <i>&phi;</i><sub>0</sub> = <i>z</i><sub>2</sub> <i>&phi;</i><sub>2</sub> &minus; <i>z</i><sub>1</sub> <i>&phi;</i><sub>1</sub>, and without loss <i>&tau;</i><sub>1</sub> = <i>i</i><sub>1</sub> <i>&tau;</i><sub>0</sub>, <i>&tau;</i><sub>2</sub> = &minus;<i>i</i><sub>2</sub> <i>&tau;</i><sub>0</sub>.</p>
</html>"));
  end OuterInner;

  model PlanetarySet "Sun and ring mesh with the two wheels of a stepped planet"
    parameter Integer zs(min = 1) = 30 "Number of teeth of the sun";
    parameter Integer zp1(min = 1) = 20 "Number of teeth of the planet, at the sun";
    parameter Integer zp2(min = 1) = 20 "Number of teeth of the planet, at the ring";
    parameter Integer zr(min = 1) = 70 "Number of teeth of the ring";
    parameter Units.Inertia Jp(min = 0) = 0 "Moment of inertia of all planets about their axes";
    Interfaces.Flange sun "Sun" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Flange carrier "Carrier" annotation(Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
    Interfaces.Flange ring "Ring" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    OuterOuter sunPlanet(z1 = zs, z2 = zp1) annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    Basic.Inertia planet(J = Jp) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
    OuterInner planetRing(z1 = zp2, z2 = zr) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
  equation
    connect(sun, sunPlanet.wheel1) annotation(Line(points = {{-100, 0}, {-50, 0}}, color = {100, 100, 100}));
    connect(sunPlanet.wheel2, planet.a) annotation(Line(points = {{-30, 0}, {-10, 0}}, color = {100, 100, 100}));
    connect(planet.b, planetRing.wheel1) annotation(Line(points = {{10, 0}, {30, 0}}, color = {100, 100, 100}));
    connect(planetRing.wheel2, ring) annotation(Line(points = {{50, 0}, {100, 0}}, color = {100, 100, 100}));
    connect(carrier, sunPlanet.carrier) annotation(Line(points = {{-100, 60}, {-75, 60}, {-75, 6}, {-50, 6}}, color = {100, 100, 100}));
    connect(carrier, planetRing.carrier) annotation(Line(points = {{-100, 60}, {-35, 60}, {-35, 6}, {30, 6}}, color = {100, 100, 100}));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {-20, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 25}, {10, -25}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 70}, {0, 30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{0, 80}, {20, 20}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-100, 65}, {-20, 55}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 90}, {50, -90}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{0, 90}, {50, 84}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{50, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p>One meshing of outer wheels (sun and planet) and one with the ring. With equal wheels, <i>z</i><sub>p1</sub> = <i>z</i><sub>p2</sub>, it is a standard planetary gear.</p>
</html>"));
  end PlanetarySet;

  model RavigneauxSet "Two suns, two planets that mesh with each other, one ring"
    parameter Integer zs1(min = 1) = 30 "Number of teeth of the small sun, which meshes with planet 1";
    parameter Integer zs2(min = 1) = 38 "Number of teeth of the large sun, which meshes with planet 2";
    parameter Integer zp1(min = 1) = 20 "Number of teeth of planet 1, which meshes with planet 2";
    parameter Integer zp2(min = 1) = 19 "Number of teeth of planet 2, which meshes with the ring";
    parameter Integer zr(min = 1) = 76 "Number of teeth of the ring";
    parameter Units.Inertia Jp1(min = 0) = 0 "Moment of inertia of planets 1 about their axes";
    parameter Units.Inertia Jp2(min = 0) = 0 "Moment of inertia of planets 2 about their axes";
    Interfaces.Flange sun1 "Small sun" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Flange sun2 "Large sun" annotation(Placement(transformation(extent = {{-110, -70}, {-90, -50}})));
    Interfaces.Flange carrier "Carrier of all planets" annotation(Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
    Interfaces.Flange ring "Ring" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    OuterOuter sun1Planet1(z1 = zs1, z2 = zp1) annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
    OuterOuter planet1Planet2(z1 = zp1, z2 = zp2) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
    OuterOuter sun2Planet2(z1 = zs2, z2 = zp2) annotation(Placement(transformation(extent = {{-10, -70}, {10, -50}})));
    OuterInner planet2Ring(z1 = zp2, z2 = zr) annotation(Placement(transformation(extent = {{60, -10}, {80, 10}})));
    Basic.Inertia planet1(J = Jp1) annotation(Placement(transformation(extent = {{-40, -10}, {-20, 10}})));
    Basic.Inertia planet2(J = Jp2) annotation(Placement(transformation(extent = {{25, -10}, {45, 10}})));
  equation
    connect(sun1, sun1Planet1.wheel1) annotation(Line(points = {{-100, 0}, {-70, 0}}, color = {100, 100, 100}));
    connect(sun1Planet1.wheel2, planet1.a) annotation(Line(points = {{-50, 0}, {-40, 0}}, color = {100, 100, 100}));
    connect(planet1.b, planet1Planet2.wheel1) annotation(Line(points = {{-20, 0}, {-10, 0}}, color = {100, 100, 100}));
    connect(planet1Planet2.wheel2, planet2.a) annotation(Line(points = {{10, 0}, {25, 0}}, color = {100, 100, 100}));
    connect(sun2, sun2Planet2.wheel1) annotation(Line(points = {{-100, -60}, {-10, -60}}, color = {100, 100, 100}));
    connect(sun2Planet2.wheel2, planet2.a) annotation(Line(points = {{10, -60}, {17.5, -60}, {17.5, 0}, {25, 0}}, color = {100, 100, 100}));
    connect(planet2.b, planet2Ring.wheel1) annotation(Line(points = {{45, 0}, {60, 0}}, color = {100, 100, 100}));
    connect(planet2Ring.wheel2, ring) annotation(Line(points = {{80, 0}, {100, 0}}, color = {100, 100, 100}));
    connect(carrier, sun1Planet1.carrier) annotation(Line(points = {{-100, 60}, {-85, 60}, {-85, 6}, {-70, 6}}, color = {100, 100, 100}));
    connect(carrier, planet1Planet2.carrier) annotation(Line(points = {{-100, 60}, {-55, 60}, {-55, 6}, {-10, 6}}, color = {100, 100, 100}));
    connect(carrier, sun2Planet2.carrier) annotation(Line(points = {{-100, 60}, {-55, 60}, {-55, -54}, {-10, -54}}, color = {100, 100, 100}));
    connect(carrier, planet2Ring.carrier) annotation(Line(points = {{-100, 60}, {-20, 60}, {-20, 6}, {60, 6}}, color = {100, 100, 100}));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {-20, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 25}, {0, -25}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-100, -55}, {-30, -65}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-40, -40}, {-20, -80}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 70}, {0, 30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{5, 80}, {25, 20}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-100, 65}, {-20, 55}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 90}, {50, -90}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{5, 90}, {50, 84}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{50, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p>Three meshings of outer wheels and one with the ring. With the carrier at rest the ratios are those of the teeth:</p>
<p><i>&omega;</i><sub>s1</sub>/<i>&omega;<sub>r</sub></i> = <i>z<sub>r</sub></i>/<i>z</i><sub>s1</sub>, &nbsp; <i>&omega;</i><sub>s2</sub>/<i>&omega;<sub>r</sub></i> = &minus;<i>z<sub>r</sub></i>/<i>z</i><sub>s2</sub>.</p>
</html>"));
  end RavigneauxSet;
end Meshings;
