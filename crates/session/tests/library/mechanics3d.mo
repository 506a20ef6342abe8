package Mechanics3DTests "Each model: `balance` is power in minus power stored and lost, `error` the distance from a closed form"
  import Gyrator.Mechanics3D.*;

  model Pendulum "A pendulum turns over: energy is conserved, its equation is that of a pendulum"
    inner World world(g = 10);
    Joints.Revolute joint(n = {0, 0, 2}, phi(start = 0.5, fixed = true), w(start = 6, fixed = true));
    Parts.Rod rod(r = {2, 0, 0}, m = 3, J = diagonal({0.1, 0.5, 0.5}));
    Sensors.PositionSensor tip;
    Real phi(start = 0.5, fixed = true);
    Real w(start = 6, fixed = true);
    Real balance = joint.a.t*joint.a.R.w + joint.b.t*joint.b.R.w + joint.b.f*(joint.b.R.T*der(joint.b.r)) - joint.tau*joint.w;
    Real error[4] = {joint.phi - phi, rod.body.kinetic + rod.body.potential - 0.5*3.5*36 - 30*sin(0.5), tip.y[1] - 2*cos(phi), tip.y[2] - 2*sin(phi)};
  equation
    der(phi) = w;
    3.5*der(w) = -30*cos(phi);
    connect(world.frame, joint.a);
    connect(joint.b, rod.a);
    connect(rod.b, tip.frame);
    annotation(experiment(StopTime = 5));
  end Pendulum;

  model DrivenJoints "Flanges drive a revolute and a prismatic joint without gravity: centrifugal force and angular momentum"
    inner World world(g = 0);
    Joints.Revolute joint(useFlange = true, n = {0, 0, 1});
    Joints.Prismatic slide(useFlange = true, n = {1, 0, 0});
    Parts.Body body(m = 2, J = zeros(3, 3));
    Gyrator.Rotational.Basic.ConstantSpeed drive(w = 3);
    Gyrator.Translational.Basic.PrescribedPosition feed(s = 1 + 0.5*time^2);
    Real s = 1 + 0.5*time^2;
    Real balance = slide.a.f*(slide.a.R.T*der(slide.a.r)) + slide.a.t*slide.a.R.w + slide.b.f*(slide.b.R.T*der(slide.b.r)) + slide.b.t*slide.b.R.w + slide.f*slide.v;
    Real error[2] = {feed.flange.f + 2*(1 - 9*s), drive.flange.tau + 2*2*s*time*3};
  equation
    connect(world.frame, joint.a);
    connect(joint.b, slide.a);
    connect(slide.b, body.frame);
    connect(drive.flange, joint.axis);
    connect(feed.flange, slide.axis);
    annotation(experiment(StopTime = 2));
  end DrivenJoints;

  model Damped "A damped prismatic joint, and a damped revolute one"
    inner World world(g = 10, down = {1, 0, 0});
    Joints.Prismatic slide(d = 4, s(start = 0, fixed = true), v(start = 0, fixed = true));
    Parts.Body body(m = 2);
    Joints.Revolute joint(n = {1, 0, 0}, d = 0.5, phi(start = 0, fixed = true), w(start = 3, fixed = true));
    Parts.Body wheel(m = 1, J = diagonal({0.25, 0.1, 0.1}));
    Real balance = slide.b.f[1]*slide.v + slide.f*slide.v;
    Real error[2] = {slide.v - 5*(1 - exp(-2*time)), joint.w - 3*exp(-2*time)};
  equation
    connect(world.frame, slide.a);
    connect(slide.b, body.frame);
    connect(world.frame, joint.a);
    connect(joint.b, wheel.frame);
    annotation(experiment(StopTime = 3));
  end Damped;

  model SphericalPendulum "A pendulum about a point: energy and angular momentum about the vertical are conserved"
    inner World world(g = 10, down = {0, 0, -1});
    Joints.Spherical joint(w0 = {0.3, -1, 2});
    Parts.Body body(m = 2, rc = {1, 0, 0}, J = diagonal({0.2, 0.3, 0.4}));
    Real momentum[3] = transpose(body.frame.R.T)*(body.J*body.w + cross(body.rc, body.m*cross(body.w, body.rc)));
    Real w[3] = {0.3, -1, 2};
    Real balance = joint.a.f*(joint.a.R.T*der(joint.a.r)) + joint.b.t*joint.b.R.w + joint.a.t*joint.a.R.w;
    Real error[3] = {body.kinetic + body.potential - 0.5*(0.2*0.09 + 2.3*1 + 2.4*4), momentum[3] - 2.4*2,
      body.frame.R.T[1, :]*body.frame.R.T[1, :] + body.frame.R.T[1, :]*body.frame.R.T[2, :] - 1};
  equation
    connect(world.frame, joint.a);
    connect(joint.b, body.frame);
    annotation(experiment(StopTime = 5));
  end SphericalPendulum;

  model Flying "A body that turns and flies: a parabola, and angular momentum in all directions"
    inner World world(g = 10);
    Joints.Free free(r0 = {1, 2, 3}, v0 = {1, 5, 0}, w0 = {0.1, 5, 0.1});
    Parts.Body body(m = 2, J = diagonal({0.3, 0.2, 0.1}));
    Real momentum[3] = transpose(body.frame.R.T)*(body.J*body.w);
    Real error[6] = cat(1, body.frame.r - {1 + time, 2 + 5*time - 5*time^2, 3}, momentum - {0.03, 1, 0.01});
  equation
    connect(world.frame, free.a);
    connect(free.b, body.frame);
    annotation(experiment(StopTime = 5));
  end Flying;

  model Turned "Rigid connections: a turned and moved body; a force on it"
    inner World world(g = 0);
    Joints.Revolute joint(n = {0, 0, 1}, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Parts.Translation arm(r = {2, 0, 0});
    Parts.Rotation elbow(n = {0, 0, 1}, angle = 1.5707963267949);
    Parts.Translation forearm(r = {1, 0, 0});
    Parts.Body body(m = 1, J = zeros(3, 3));
    Forces.WorldForce force(f = 5*{-sin(joint.phi), cos(joint.phi), 0});
    Real balance = elbow.a.t*elbow.a.R.w + elbow.b.t*elbow.b.R.w + elbow.a.f*(elbow.a.R.T*der(elbow.a.r)) + elbow.b.f*(elbow.b.R.T*der(elbow.b.r));
    Real error[3] = {joint.phi - time^2, body.frame.r[1] - 2*cos(joint.phi) + sin(joint.phi), body.frame.r[2] - 2*sin(joint.phi) - cos(joint.phi)};
  equation
    connect(world.frame, joint.a);
    connect(joint.b, arm.a);
    connect(arm.b, elbow.a);
    connect(elbow.b, forearm.a);
    connect(forearm.b, body.frame);
    connect(force.frame, body.frame);
    annotation(experiment(StopTime = 2));
  end Turned;

  model OnASpring "Two bodies on a spring with damper: the distance swings, the centre of mass flies straight"
    inner World world(g = 0);
    Joints.Free first(r0 = {0, 0, 0}, v0 = {0, 1, 0});
    Joints.Free second(r0 = {2, 0, 0}, v0 = {0, 1, 0});
    Parts.Body a(m = 1);
    Parts.Body b(m = 3);
    Forces.SpringDamper spring(c = 6, d = 0.75, l0 = 1);
    Real elastic = 3*(spring.length - 1)^2;
    Real swing = sqrt(8 - 0.25);
    Real balance = spring.a.f*(spring.a.R.T*der(spring.a.r)) + spring.b.f*(spring.b.R.T*der(spring.b.r)) - spring.loss - der(elastic);
    Real error[2] = {spring.length - 1 - exp(-0.5*time)*(cos(swing*time) + 0.5/swing*sin(swing*time)), (a.frame.r[1] + 3*b.frame.r[1])/4 - 1.5};
  equation
    connect(world.frame, first.a);
    connect(world.frame, second.a);
    connect(first.b, a.frame);
    connect(second.b, b.frame);
    connect(a.frame, spring.a);
    connect(spring.b, b.frame);
    annotation(experiment(StopTime = 4));
  end OnASpring;
end Mechanics3DTests;
