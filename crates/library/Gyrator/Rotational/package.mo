within Gyrator;
package Rotational "Drive trains: shafts, gears, planetary gears, friction, clutches and brakes"
  annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-60, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{-60, 50}, {60, -50}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html>
<p>Components touch at flanges, which have the absolute angle <code>phi</code> of a shaft and the cut torque <code>tau</code> into the component. A
connection is rigid: the angles are equal and the torques sum up to zero.</p>
<p>Friction, clutches, brakes and freewheels come in two forms. Those of <code>Friction</code> follow a finite automaton that keeps the relative
speed a state, so that one set of equations serves all modes; this is the form for fixed steps. Those of <code>Ideal</code> only say what holds.
Which unknowns are states then changes during the run, and where a speed has to jump, angular momentum is conserved.</p>
</html>"));
end Rotational;
