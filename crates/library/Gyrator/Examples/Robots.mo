within Gyrator.Examples;
package Robots "Bodies in space"
  extends Icons.ExamplesFolder;

  model Axis "Motor with gear and controller that turns a joint"
    parameter Units.Angle start = 0 "Angle at the start";
    parameter Units.Angle goal = 1 "Angle at the end of the motion";
    parameter Units.Time duration = 1 "Duration of the motion";
    parameter Real ratio = 100 "Gear";
    parameter Real kp(unit = "1/s") = 10 "Gain of the angle";
    parameter Real kv(unit = "N.m.s/rad") = 1 "Gain of the speed, at the motor";
    Interfaces.Flange flange "Joint" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Rotational.Basic.Inertia motor(J = 1e-3) annotation(Placement(transformation(extent = {{-30, -10}, {-10, 10}})));
    Rotational.Gears.SpurGear gear(ratio = ratio) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Rotational.Basic.ExternalTorque torque annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
    Real x "Part of the way, from 0 to 1";
    Units.Angle reference "Angle that is asked for, at the joint";
    Units.AngularVelocity wReference "Its derivative";
  equation
    x = if time < duration then time/duration else 1;
    reference = start + (goal - start)*(10*x^3 - 15*x^4 + 6*x^5);
    wReference = (goal - start)/duration*(30*x^2 - 60*x^3 + 30*x^4)*(if time < duration then 1 else 0);
    torque.tau = kv*(ratio*wReference + kp*ratio*(reference - flange.phi) - motor.w);
    connect(torque.flange, motor.a) annotation(Line(points = {{-50, 0}, {-30, 0}}, color = {100, 100, 100}));
    connect(motor.b, gear.a) annotation(Line(points = {{-10, 0}, {30, 0}}, color = {100, 100, 100}));
    connect(gear.b, flange) annotation(Line(points = {{50, 0}, {100, 0}}, color = {100, 100, 100}));
  initial equation
    flange.phi = start;
    motor.w = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 40}, {40, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-70, 30}, {30, -30}}, textString = "axis")}),
      Documentation(info = "<html>
<p>A motion without jerk from one angle to another, and a controller for angle and speed.</p>
</html>"));
  end Axis;

  model Arm "Robot arm with three driven joints"
    extends Icons.Example;
    inner Mechanics3D.World world(down = {0, 0, -1}) annotation(Placement(transformation(extent = {{-100, -50}, {-80, -30}})));
    Mechanics3D.Joints.Revolute base(n = {0, 0, 1}, useFlange = true) annotation(Placement(transformation(extent = {{-70, -50}, {-50, -30}})));
    Mechanics3D.Parts.Rod column(r = {0, 0, 0.5}, m = 20, J = diagonal({0.4, 0.4, 0.1})) annotation(Placement(transformation(extent = {{-40, -50}, {-20, -30}})));
    Mechanics3D.Joints.Revolute shoulder(n = {0, 1, 0}, useFlange = true) annotation(Placement(transformation(extent = {{-10, -50}, {10, -30}})));
    Mechanics3D.Parts.Rod upperArm(r = {0.6, 0, 0}, m = 10, J = diagonal({0.02, 0.3, 0.3})) annotation(Placement(transformation(extent = {{20, -50}, {40, -30}})));
    Mechanics3D.Joints.Revolute elbow(n = {0, 1, 0}, useFlange = true) annotation(Placement(transformation(extent = {{50, -50}, {70, -30}})));
    Mechanics3D.Parts.Rod foreArm(r = {0.5, 0, 0}, m = 6, J = diagonal({0.01, 0.1, 0.1})) annotation(Placement(transformation(extent = {{80, -50}, {100, -30}})));
    Mechanics3D.Parts.Body load(m = 3, J = diagonal({0.01, 0.01, 0.01})) annotation(Placement(transformation(extent = {{110, -50}, {130, -30}})));
    Axis baseAxis(goal = 1.2) annotation(Placement(transformation(extent = {{-90, 10}, {-70, 30}})));
    Axis shoulderAxis(goal = -0.8) annotation(Placement(transformation(extent = {{-30, 10}, {-10, 30}})));
    Axis elbowAxis(start = 0.5, goal = 1.5) annotation(Placement(transformation(extent = {{30, 10}, {50, 30}})));
  equation
    connect(world.frame, base.a) annotation(Line(points = {{-80, -40}, {-70, -40}}, color = {95, 95, 95}));
    connect(base.b, column.a) annotation(Line(points = {{-50, -40}, {-40, -40}}, color = {95, 95, 95}));
    connect(column.b, shoulder.a) annotation(Line(points = {{-20, -40}, {-10, -40}}, color = {95, 95, 95}));
    connect(shoulder.b, upperArm.a) annotation(Line(points = {{10, -40}, {20, -40}}, color = {95, 95, 95}));
    connect(upperArm.b, elbow.a) annotation(Line(points = {{40, -40}, {50, -40}}, color = {95, 95, 95}));
    connect(elbow.b, foreArm.a) annotation(Line(points = {{70, -40}, {80, -40}}, color = {95, 95, 95}));
    connect(foreArm.b, load.frame) annotation(Line(points = {{100, -40}, {110, -40}}, color = {95, 95, 95}));
    connect(baseAxis.flange, base.axis) annotation(Line(points = {{-70, 20}, {-60, 20}, {-60, -30}}, color = {100, 100, 100}));
    connect(shoulderAxis.flange, shoulder.axis) annotation(Line(points = {{-10, 20}, {0, 20}, {0, -30}}, color = {100, 100, 100}));
    connect(elbowAxis.flange, elbow.axis) annotation(Line(points = {{50, 20}, {60, 20}, {60, -30}}, color = {100, 100, 100}));
    annotation(Diagram(coordinateSystem(extent = {{-100, -100}, {140, 100}})),
      experiment(StopTime = 2),
      Documentation(info = "<html>
<p>Three axes move the arm within a second. The motors have large gears, so that their inertia counts as much as that of the arm.</p>
</html>"));
  end Arm;

  model Chain "Rods on joints, each turned by 90 degrees against the one before"
    extends Icons.Example;
    parameter Integer n(min = 1) = 30 "Number of rods";
    inner Mechanics3D.World world(g = 9.81) annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
    Mechanics3D.Joints.Revolute joint[n](n = {if mod(k, 2) == 1 then {0, 0, 1} else {0, 1, 0} for k in 1:n}, each d = 0.1, each phi(start = 0, fixed = true), each w(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{-30, -10}, {-10, 10}})));
    Mechanics3D.Parts.Rod rod[n](each r = {1, 0, 0}, each m = 1, each J = diagonal({0.01, 0.1, 0.1})) annotation(Placement(transformation(extent = {{10, -10}, {30, 10}})));
  equation
    connect(world.frame, joint[1].a) annotation(Line(points = {{-50, 0}, {-30, 0}}, color = {95, 95, 95}));
    for k in 1:n loop
      connect(joint[k].b, rod[k].a) annotation(Line(points = {{-10, 0}, {10, 0}}, color = {95, 95, 95}));
    end for;
    for k in 1:n - 1 loop
      connect(rod[k].b, joint[k + 1].a) annotation(Line(points = {{30, 0}, {36, 0}, {36, 16}, {-36, 16}, {-36, 0}, {-30, 0}}, color = {95, 95, 95}));
    end for;
    annotation(experiment(StopTime = 1),
      Documentation(info = "<html>
<p>The equations of all bodies form one linear system; tearing reduces it to one unknown for each joint.</p>
</html>"));
  end Chain;
end Robots;
