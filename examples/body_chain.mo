package BodyChain "Rigid bodies in space, as objects: a chain of them with joints turned by 90 degrees"

  partial connector Frame "A coordinate system; vectors are resolved in it"
    Real r[3](each unit = "m") "Position of the origin, resolved in the world";
    Real w[3](each unit = "rad/s") "Angular velocity";
    flow Real f[3](each unit = "N") "Force";
    flow Real t[3](each unit = "N.m") "Torque";
  end Frame;

  connector Frame_a "Is told how it is turned and accelerated"
    extends Frame;
    input Real S[3, 3] "Turns vectors of the world into this frame";
    input Real a[3](each unit = "m/s2") "Acceleration of the origin";
    input Real z[3](each unit = "rad/s2") "Angular acceleration";
  end Frame_a;

  connector Frame_b "Tells it to the next"
    extends Frame;
    output Real S[3, 3] "Turns vectors of the world into this frame";
    output Real a[3](each unit = "m/s2") "Acceleration of the origin";
    output Real z[3](each unit = "rad/s2") "Angular acceleration";
  end Frame_b;

  model World "Does not move; being accelerated upwards stands for gravity"
    parameter Real g(unit = "m/s2") = 9.81;
    Frame_b frame;
  equation
    frame.r = zeros(3);
    frame.S = identity(3);
    frame.w = zeros(3);
    frame.a = {0, g, 0};
    frame.z = zeros(3);
  end World;

  model Revolute "Turns about an axis that is the same in both frames"
    parameter Real n[3] = {0, 0, 1} "Axis, of length one";
    parameter Real d(unit = "N.m.s/rad") = 0 "Damping";
    Frame_a frame_a;
    Frame_b frame_b;
    Real q(unit = "rad", start = 0, fixed = true, stateSelect = StateSelect.always) "Angle";
    Real qd(unit = "rad/s", start = 0, fixed = true, stateSelect = StateSelect.always);
    Real qdd(unit = "rad/s2");
    Real R[3, 3] "From frame_a to frame_b";
    Real tau(unit = "N.m");
  equation
    qd = der(q);
    qdd = der(qd);
    R = matrix(n)*transpose(matrix(n)) + (identity(3) - matrix(n)*transpose(matrix(n)))*cos(q) - skew(n)*sin(q);
    frame_b.r = frame_a.r;
    frame_b.S = R*frame_a.S;
    frame_b.w = R*frame_a.w + n*qd;
    frame_b.a = R*frame_a.a;
    frame_b.z = R*frame_a.z + n*qdd + cross(R*frame_a.w, n*qd);
    frame_a.f = -transpose(R)*frame_b.f;
    frame_a.t = -transpose(R)*frame_b.t;
    tau = -d*qd;
    n*frame_b.t = -tau;
  end Revolute;

  model Body "A rod: both ends are frames, the mass is in the middle"
    parameter Real l[3](each unit = "m") = {1, 0, 0} "From frame_a to frame_b";
    parameter Real m(unit = "kg") = 1;
    parameter Real J[3, 3](each unit = "kg.m2") = [0.01, 0.0, 0.0; 0.0, 0.1, 0.0; 0.0, 0.0, 0.1] "About the middle";
    Frame_a frame_a;
    Frame_b frame_b;
    Real force[3](each unit = "N") "What accelerates the mass";
  equation
    frame_b.r = frame_a.r + transpose(frame_a.S)*l;
    frame_b.S = frame_a.S;
    frame_b.w = frame_a.w;
    frame_b.z = frame_a.z;
    frame_b.a = frame_a.a + cross(frame_a.z, l) + cross(frame_a.w, cross(frame_a.w, l));
    force = m*(frame_a.a + cross(frame_a.z, l/2) + cross(frame_a.w, cross(frame_a.w, l/2)));
    frame_a.f + frame_b.f = force;
    frame_a.t + frame_b.t + cross(l, frame_b.f) = J*frame_a.z + cross(frame_a.w, J*frame_a.w) + cross(l/2, force);
  end Body;

  model Chain "Each joint turned by 90 degrees against the one before"
    parameter Integer bodies = 30;
    parameter Real d(unit = "N.m.s/rad") = 0.1 "Damping of all joints";
    World world;
    Revolute joint[bodies](n = {if mod(k, 2) == 1 then {0, 0, 1} else {0, 1, 0} for k in 1:bodies}, each d = d);
    Body body[bodies];
  equation
    connect(world.frame, joint[1].frame_a);
    for k in 1:bodies loop
      connect(joint[k].frame_b, body[k].frame_a);
    end for;
    for k in 1:bodies - 1 loop
      connect(body[k].frame_b, joint[k + 1].frame_a);
    end for;
    annotation(experiment(StopTime = 1));
  end Chain;
end BodyChain;
