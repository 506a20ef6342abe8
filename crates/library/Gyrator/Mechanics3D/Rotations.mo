within Gyrator.Mechanics3D;
package Rotations "Functions of orientations"
  extends Icons.Folder;

  function unit "Vector of length one"
    input Real v[3] "Vector";
    output Real e[3] "Its direction";
  algorithm
    e := v/sqrt(v*v);
    annotation(Inline = true);
  end unit;

  function aboutAxis "Matrix of a rotation about an axis"
    input Real e[3] "Axis, of length one";
    input Units.Angle phi "Angle";
    output Real T[3, 3] "Turns vectors into the frame that is turned by the angle";
  algorithm
    T := matrix(e)*transpose(matrix(e)) + (identity(3) - matrix(e)*transpose(matrix(e)))*cos(phi) - skew(e)*sin(phi);
    annotation(Inline = true);
  end aboutAxis;

  function fromQuaternion "Matrix of a quaternion of any length"
    input Real Q[4] "Quaternion, its scalar part first";
    output Real T[3, 3] "Turns vectors into the frame that is turned";
  protected
    Real v[3] "Vector part";
  algorithm
    v := Q[2:4];
    T := ((Q[1]^2 - v*v)*identity(3) + 2*matrix(v)*transpose(matrix(v)) - 2*Q[1]*skew(v))/(Q*Q);
    annotation(Inline = true);
  end fromQuaternion;

  function quaternionRate "Derivative of a quaternion"
    input Real Q[4] "Quaternion, its scalar part first";
    input Units.AngularVelocity w[3] "Angular velocity, resolved in the frame that is turned";
    output Real rate[4] "Derivative";
  algorithm
    rate := cat(1, {-Q[2:4]*w}, Q[1]*w + cross(Q[2:4], w))/2;
    annotation(Inline = true);
  end quaternionRate;
  function toWorld "Vector that is resolved in a frame, resolved in the world"
    input Orientation R "Orientation of the frame";
    input Real v[3] "Vector, resolved in the frame";
    output Real u[3] "The same, resolved in the world";
  algorithm
    u := transpose(R.T)*v;
    annotation(derivative(noDerivative = R) = toWorldDerivative, InlineAfterIndexReduction = true);
  end toWorld;

  function toWorldDerivative "Derivative of a vector that is resolved in a frame, resolved in the world"
    input Orientation R "Orientation of the frame";
    input Real v[3] "Vector, resolved in the frame";
    input Real rate[3] "Derivative of its elements";
    output Real u[3] "Derivative, resolved in the world";
  algorithm
    u := toWorld(R, rate + cross(R.w, v));
    annotation(Inline = true);
  end toWorldDerivative;

  annotation(Documentation(info = "<html>
<p>The derivative of a vector is that of its elements and, since the frame turns, <b>&omega;</b> &times; <b>v</b>.</p>
<p>A rotation by <i>&phi;</i> about the axis <b>e</b> has the matrix <b>e e</b><sup>T</sup> + (1 &minus; <b>e e</b><sup>T</sup>) cos <i>&phi;</i> &minus; skew(<b>e</b>) sin <i>&phi;</i> and the quaternion
(cos <i>&phi;</i>/2, <b>e</b> sin <i>&phi;</i>/2).</p>
</html>"));
end Rotations;
