within Gyrator;
package Mechanics3D "Rigid bodies in space: frames, bodies, joints, forces"
  annotation(Icon(graphics = {Line(points = {{-60, -40}, {80, -40}}, color = {95, 95, 95}, arrow = {Arrow.None, Arrow.Filled}),
      Line(points = {{-60, -40}, {-60, 90}}, color = {95, 95, 95}, arrow = {Arrow.None, Arrow.Filled}),
      Line(points = {{-60, -40}, {0, 10}}, color = {95, 95, 95}, arrow = {Arrow.None, Arrow.Filled})}),
    Documentation(info = "<html>
<p>Components touch at frames. A frame has the position <code>r</code> of its origin, resolved in the world, and its orientation <code>R</code>; cut force <code>f</code> and torque
<code>t</code> are resolved in the frame. Every model needs one <code>World</code>, which also knows gravity.</p>
<p>Orientations have nine elements of which three are independent. The overconstrained connector says so (<code>Connections.root</code>,
<code>Connections.branch</code>), and superfluous equations of closed loops are left out.</p>
</html>"));
end Mechanics3D;
