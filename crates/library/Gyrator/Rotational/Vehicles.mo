within Gyrator.Rotational;
package Vehicles "Engine, torque converter and vehicle around a gearbox"
  extends Icons.Folder;

  model Engine "Combustion engine: torque by throttle and speed, with a controller that keeps it idling"
    extends Bases.OneFlange;
    parameter Units.Inertia J = 0.2 "Moment of inertia of crankshaft and flywheel";
    parameter Units.AngularVelocity wIdle = 80 "Idling speed";
    parameter Units.RotationalDamping kIdle = 2 "Gain of the controller for idling";
    parameter Units.Torque tauDrag = 20 "Drag without fuel";
    parameter Units.RotationalDamping dDrag = 0.05 "Growth of the drag with the speed";
    parameter Units.Torque tauMax = 240 "Torque of combustion at full throttle and the best speed";
    parameter Units.AngularVelocity wBest = 350 "Speed of the largest torque";
    parameter Units.AngularVelocity wWidth = 450 "Distance from there at which the torque is zero";
    Interfaces.RealInput throttle "Throttle, from 0 to 1" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
    Units.AngularVelocity w(start = 80) "Angular velocity";
    Units.Torque tauFuel "Torque of combustion";
    Units.Torque tauFriction "Drag";
  equation
    w = der(flange.phi);
    tauFuel = throttle*tauMax*(1 - ((w - wBest)/wWidth)^2) + max(0, kIdle*(wIdle - w) + tauDrag + dDrag*w)*(1 - throttle);
    tauFriction = tauDrag + dDrag*w;
    J*der(w) = tauFuel - tauFriction + flange.tau;
    annotation(Icon(graphics = {Rectangle(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-40, 50}, {-20, 10}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-10, 50}, {10, 10}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{20, 50}, {40, 10}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>J</i> d<i>&omega;</i>/d<i>t</i> = <i>&tau;</i><sub>fuel</sub> &minus; <i>&tau;</i><sub>drag</sub> + <i>&tau;</i>. The torque of combustion is a parabola over the speed, times the throttle; below the idling speed a controller adds fuel.</p>
</html>"));
  end Engine;

  model TorqueConverter "Hydrodynamic converter: a pump throws oil at a turbine"
    extends Bases.TwoFlanges;
    parameter Real lambda(unit = "N.m.s2/rad2") = 2.6e-3 "Torque of the pump by the square of its speed, at rest of the turbine";
    parameter Real muStall = 2 "Torque of the turbine by that of the pump, at rest of the turbine";
    parameter Real nuCoupling = 0.85 "Ratio of speeds from which on the stator turns with the oil";
    Units.AngularVelocity wPump(start = 80) "Speed of the pump";
    Units.AngularVelocity wTurbine "Speed of the turbine";
    Real nu "Speed of the turbine by that of the pump";
    Real mu "Torque of the turbine by that of the pump";
    Real load "Torque of the pump by that at rest of the turbine";
    Units.Power loss "Power that heats the oil";
  protected
    constant Units.AngularVelocity wSmall = 1e-3 "Below this speed the pump counts as resting";
  equation
    wPump = der(a.phi);
    wTurbine = der(b.phi);
    assert(wPump > -wSmall, "The pump of the torque converter turns backward");
    nu = wTurbine/noEvent(max(wPump, wSmall));
    mu = smooth(0, noEvent(if nu < nuCoupling then muStall - (muStall - 1)*nu/nuCoupling else 1));
    load = smooth(0, noEvent(if nu < nuCoupling then 1 - 0.3*nu/nuCoupling else 0.7*(1 - nu)/(1 - nuCoupling)));
    a.tau = lambda*load*wPump^2;
    b.tau = -mu*a.tau;
    loss = a.tau*wPump + b.tau*wTurbine;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-40, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-60, 80}, {60, -80}}, lineColor = {0, 0, 0}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 80}, {0, -80}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p>With the ratio of speeds <i>&nu;</i> = <i>&omega;<sub>t</sub></i>/<i>&omega;<sub>p</sub></i>: <i>&tau;<sub>p</sub></i> = <i>&lambda;</i>(<i>&nu;</i>) <i>&omega;<sub>p</sub></i>&sup2;, <i>&tau;<sub>t</sub></i> = &minus;<i>&mu;</i>(<i>&nu;</i>) <i>&tau;<sub>p</sub></i>. While the turbine is slow, the stator multiplies the torque, <i>&mu;</i> &gt; 1; above the coupling point
<i>&mu;</i> = 1, and the torque vanishes where both speeds are equal. The pump turns forward or rests; at rest it has no torque.</p>
</html>"));
  end TorqueConverter;

  model RoadVehicle "Mass of a vehicle on its driven wheels, with rolling resistance and drag"
    Interfaces.Flange flange "Axle of the driven wheels" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    parameter Units.Mass m = 1500 "Mass";
    parameter Units.Radius r = 0.3 "Radius of the wheels";
    parameter Real cRoll = 0.012 "Rolling resistance by weight";
    parameter Real cAir(unit = "N.s2/m2") = 0.4 "Force of the air by the square of the speed";
    Units.Position s "Way";
    Units.Velocity v "Speed";
    Units.Force fAir "Drag of the air";
    Units.Force fRoll "Rolling resistance";
    Units.Force fDrive "Force of the wheels on the road";
  protected
    constant Units.Velocity vSmall = 0.1;
  equation
    s = r*flange.phi;
    v = der(s);
    fAir = cAir*v*abs(v);
    fRoll = cRoll*m*Units.standardGravity*tanh(v/vSmall);
    flange.tau = r*fDrive;
    m*der(v) = fDrive - fAir - fRoll;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Polygon(points = {{-90, -20}, {-80, 20}, {-40, 30}, {-20, 60}, {40, 60}, {60, 30}, {90, 20}, {90, -20}}, lineColor = {0, 0, 0}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-70, 0}, {-30, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{30, 0}, {70, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-100, 0}, {-50, -20}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p><i>s</i> = <i>r &phi;</i>, &nbsp; <i>m</i> d<i>v</i>/d<i>t</i> = <i>&tau;</i>/<i>r</i> &minus; <i>c</i><sub>air</sub> <i>v</i>|<i>v</i>| &minus; <i>f</i><sub>roll</sub>. The rolling resistance changes its sign smoothly around standstill.</p>
</html>"));
  end RoadVehicle;
end Vehicles;
