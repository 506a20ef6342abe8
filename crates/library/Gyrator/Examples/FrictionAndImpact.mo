within Gyrator.Examples;
package FrictionAndImpact "Friction, backlash and impact: formulated by hand, and as equations alone; both compared"
  extends Icons.ExamplesFolder;

  model HandMadeBlock "A block with dry friction, by the automaton"
    extends Icons.Example;
    Translational.Basic.ExternalForce force(f = 6*sin(2*time)) annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
    Translational.Basic.Mass block1(m = 2, s(start = 0, fixed = true), v(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{-30, -10}, {-10, 10}})));
    Translational.Friction.DryFriction friction(f0 = 3, f1 = 0.5) annotation(Placement(transformation(extent = {{10, -10}, {30, 10}})));
    Translational.Basic.Wall wall annotation(Placement(transformation(origin = {60, 0}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
  equation
    connect(force.flange, block1.a) annotation(Line(points = {{-50, 0}, {-30, 0}}, color = {0, 127, 0}));
    connect(block1.b, friction.a) annotation(Line(points = {{-10, 0}, {10, 0}}, color = {0, 127, 0}));
    connect(friction.b, wall.flange) annotation(Line(points = {{30, 0}, {50, 1.22465e-15}}, color = {0, 127, 0}));
    annotation(experiment(StopTime = 5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>The velocity is a state in all modes. While the block sticks its derivative is zero.</p>
</html>"));
  end HandMadeBlock;

  model DeclarativeBlock "The same block, friction by its characteristic alone"
    extends Icons.Example;
    Translational.Basic.ExternalForce force(f = 6*sin(2*time)) annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
    Translational.Basic.Mass block1(m = 2, s(start = 0, fixed = true), v(start = 0)) annotation(Placement(transformation(extent = {{-30, -10}, {-10, 10}})));
    Translational.Ideal.DryFriction friction(f0 = 3, f1 = 0.5) annotation(Placement(transformation(extent = {{10, -10}, {30, 10}})));
    Translational.Basic.Wall wall annotation(Placement(transformation(origin = {60, 0}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
  equation
    connect(force.flange, block1.a) annotation(Line(points = {{-50, 0}, {-30, 0}}, color = {0, 127, 0}));
    connect(block1.b, friction.a) annotation(Line(points = {{-10, 0}, {10, 0}}, color = {0, 127, 0}));
    connect(friction.b, wall.flange) annotation(Line(points = {{30, 0}, {50, 1.22465e-15}}, color = {0, 127, 0}));
    annotation(experiment(StopTime = 5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>While the block sticks, its velocity is no state; the structure changes with the mode.</p>
</html>"));
  end DeclarativeBlock;

  model BlocksCompared "Both formulations side by side"
    extends Icons.Example;
    HandMadeBlock handMade annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    DeclarativeBlock declarative annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Units.Position difference = handMade.block1.s - declarative.block1.s "Stays zero";
    annotation(experiment(StopTime = 5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>The positions agree within the tolerance of the integration.</p>
</html>"));
  end BlocksCompared;

  model TwoBlocks "A block on a block on the ground, with friction between them, by the automaton"
    extends Icons.Example;
    Translational.Basic.ExternalForce lowerForce(f = 12*sin(time)) annotation(Placement(transformation(extent = {{-90, -50}, {-70, -30}})));
    Translational.Basic.ExternalForce upperForce(f = 4*sin(2.3*time)) annotation(Placement(transformation(extent = {{-90, 30}, {-70, 50}})));
    Translational.Basic.Mass lower(m = 2, s(start = 0, fixed = true), v(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{-50, -50}, {-30, -30}})));
    Translational.Basic.Mass upper(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{-50, 30}, {-30, 50}})));
    Translational.Friction.DryFriction ground(f0 = 4, f1 = 0.3) annotation(Placement(transformation(extent = {{10, -50}, {30, -30}})));
    Translational.Friction.DryFriction between(f0 = 2, f1 = 0.3) annotation(Placement(transformation(origin = {0, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Translational.Basic.Wall wall annotation(Placement(transformation(origin = {60, -40}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
  equation
    connect(lowerForce.flange, lower.a) annotation(Line(points = {{-70, -40}, {-50, -40}}, color = {0, 127, 0}));
    connect(upperForce.flange, upper.a) annotation(Line(points = {{-70, 40}, {-50, 40}}, color = {0, 127, 0}));
    connect(lower.b, ground.a) annotation(Line(points = {{-30, -40}, {10, -40}}, color = {0, 127, 0}));
    connect(ground.b, wall.flange) annotation(Line(points = {{30, -40}, {50, -40}}, color = {0, 127, 0}));
    connect(upper.b, between.a) annotation(Line(points = {{-30, 40}, {-6.12323e-16, 40}, {-6.12323e-16, 10}}, color = {0, 127, 0}));
    connect(lower.b, between.b) annotation(Line(points = {{-30, -40}, {6.12323e-16, -40}, {6.12323e-16, -10}}, color = {0, 127, 0}));
    annotation(experiment(StopTime = 10, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>Each friction element sticks, slides forward or backward: nine regimes, which mixed systems of equations decide about.</p>
</html>"));
  end TwoBlocks;

  model DeclarativeTwoBlocks "The two blocks, friction by its characteristic alone"
    extends Icons.Example;
    Translational.Basic.ExternalForce lowerForce(f = 12*sin(time)) annotation(Placement(transformation(extent = {{-90, -50}, {-70, -30}})));
    Translational.Basic.ExternalForce upperForce(f = 4*sin(2.3*time)) annotation(Placement(transformation(extent = {{-90, 30}, {-70, 50}})));
    Translational.Basic.Mass lower(m = 2, s(start = 0, fixed = true), v(start = 0)) annotation(Placement(transformation(extent = {{-50, -50}, {-30, -30}})));
    Translational.Basic.Mass upper(m = 1, s(start = 0, fixed = true), v(start = 0)) annotation(Placement(transformation(extent = {{-50, 30}, {-30, 50}})));
    Translational.Ideal.DryFriction ground(f0 = 4, f1 = 0.3) annotation(Placement(transformation(extent = {{10, -50}, {30, -30}})));
    Translational.Ideal.DryFriction between(f0 = 2, f1 = 0.3) annotation(Placement(transformation(origin = {0, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Translational.Basic.Wall wall annotation(Placement(transformation(origin = {60, -40}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
  equation
    connect(lowerForce.flange, lower.a) annotation(Line(points = {{-70, -40}, {-50, -40}}, color = {0, 127, 0}));
    connect(upperForce.flange, upper.a) annotation(Line(points = {{-70, 40}, {-50, 40}}, color = {0, 127, 0}));
    connect(lower.b, ground.a) annotation(Line(points = {{-30, -40}, {10, -40}}, color = {0, 127, 0}));
    connect(ground.b, wall.flange) annotation(Line(points = {{30, -40}, {50, -40}}, color = {0, 127, 0}));
    connect(upper.b, between.a) annotation(Line(points = {{-30, 40}, {-6.12323e-16, 40}, {-6.12323e-16, 10}}, color = {0, 127, 0}));
    connect(lower.b, between.b) annotation(Line(points = {{-30, -40}, {6.12323e-16, -40}, {6.12323e-16, -10}}, color = {0, 127, 0}));
    annotation(experiment(StopTime = 10, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>The number of states is that of the elements that slide.</p>
</html>"));
  end DeclarativeTwoBlocks;

  model TwoBlocksCompared "Both formulations of the two blocks side by side"
    extends Icons.Example;
    TwoBlocks handMade annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    DeclarativeTwoBlocks declarative annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Units.Position difference[2] = {handMade.lower.s - declarative.lower.s, handMade.upper.s - declarative.upper.s} "Stays zero";
    annotation(experiment(StopTime = 10, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>The positions agree within the tolerance of the integration.</p>
</html>"));
  end TwoBlocksCompared;

  model ElasticBacklash "Two inertias with play between stiff, damped stops"
    extends Icons.Example;
    Rotational.Basic.ExternalTorque torque(tau = if time < 2 then 0 else -1) annotation(Placement(transformation(extent = {{-90, -10}, {-70, 10}})));
    Rotational.Basic.Inertia first(J = 1, phi(start = 0, fixed = true), w(start = 1, fixed = true)) annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    Rotational.Basic.ElasticBacklash backlash(play = 1, c = 1e6, d = 3e4) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
    Rotational.Basic.Inertia second(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
  equation
    connect(torque.flange, first.a) annotation(Line(points = {{-70, 0}, {-50, 0}}, color = {100, 100, 100}));
    connect(first.b, backlash.a) annotation(Line(points = {{-30, 0}, {-10, 0}}, color = {100, 100, 100}));
    connect(backlash.b, second.a) annotation(Line(points = {{10, 0}, {30, 0}}, color = {100, 100, 100}));
    annotation(experiment(StopTime = 5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>The stops are so stiff and damped that an impact lasts a millisecond.</p>
</html>"));
  end ElasticBacklash;

  model RigidBacklash "Two inertias with play between rigid stops"
    extends Icons.Example;
    Rotational.Basic.ExternalTorque torque(tau = if time < 2 then 0 else -1) annotation(Placement(transformation(extent = {{-90, -10}, {-70, 10}})));
    Rotational.Basic.Inertia first(J = 1, phi(start = 0, fixed = true), w(start = 1, fixed = true)) annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    Rotational.Ideal.Backlash backlash(play = 1) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
    Rotational.Basic.Inertia second(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
  equation
    connect(torque.flange, first.a) annotation(Line(points = {{-70, 0}, {-50, 0}}, color = {100, 100, 100}));
    connect(first.b, backlash.a) annotation(Line(points = {{-30, 0}, {-10, 0}}, color = {100, 100, 100}));
    connect(backlash.b, second.a) annotation(Line(points = {{10, 0}, {30, 0}}, color = {100, 100, 100}));
    annotation(experiment(StopTime = 5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>At an impact the speeds jump to the common one: angular momentum is conserved.</p>
</html>"));
  end RigidBacklash;

  model BacklashCompared "Elastic and rigid stops side by side"
    extends Icons.Example;
    ElasticBacklash elastic annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    RigidBacklash rigid annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Units.AngularVelocity difference = elastic.second.w - rigid.second.w "Is small but for the duration of the impacts";
    annotation(experiment(StopTime = 5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>The stiffer the stops, the nearer both come.</p>
</html>"));
  end BacklashCompared;

  model HandMadeBall "A ball whose velocity is set anew at each bounce"
    extends Icons.Example;
    parameter Real e = 0.7 "Velocity after by velocity before a bounce";
    Units.Length h(start = 1, fixed = true) "Height";
    Units.Velocity v(start = 0, fixed = true) "Velocity";
  equation
    der(h) = v;
    der(v) = -Units.standardGravity;
    when h < 0 then
      reinit(v, -e*pre(v));
    end when;
    annotation(experiment(StopTime = 1.5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p><code>reinit(v, -e*pre(v))</code> where the height becomes negative.</p>
</html>"));
  end HandMadeBall;

  model DeclarativeBall "A weight above the ground, with a law of impact"
    extends Icons.Example;
    Translational.Basic.Wall ground annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
    Translational.Ideal.Impact impact(e = 0.7) annotation(Placement(transformation(extent = {{-20, -10}, {0, 10}})));
    Translational.Basic.Weight ball(m = 0.3, s(start = 1, fixed = true), v(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
  equation
    connect(ground.flange, impact.a) annotation(Line(points = {{-50, 0}, {-20, 0}}, color = {0, 127, 0}));
    connect(impact.b, ball.a) annotation(Line(points = {{0, 0}, {30, 0}}, color = {0, 127, 0}));
    annotation(experiment(StopTime = 1.5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>The law of impact is an equation between velocities that holds for an instant; the impulse follows from the balance of momentum.</p>
</html>"));
  end DeclarativeBall;

  model BallsCompared "Both balls side by side"
    extends Icons.Example;
    HandMadeBall handMade annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    DeclarativeBall declarative annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Units.Length difference = handMade.h - declarative.ball.s "Stays zero";
    annotation(experiment(StopTime = 1.5, Tolerance = 1e-9),
      Documentation(info = "<html>
<p>The heights agree within the tolerance of the integration.</p>
</html>"));
  end BallsCompared;
end FrictionAndImpact;
