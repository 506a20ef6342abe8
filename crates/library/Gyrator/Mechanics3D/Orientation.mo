within Gyrator.Mechanics3D;
record Orientation "How a frame is turned, and how fast"
  Real T[3, 3] "Turns vectors of the world into the frame";
  Units.AngularVelocity w[3] "Angular velocity, resolved in the frame";

  encapsulated function equalityConstraint "Three numbers that vanish where two orientations are equal"
    import Gyrator.Mechanics3D.Orientation;
    input Orientation R1 "First orientation";
    input Orientation R2 "Second orientation";
    output Real residue[3] "Small angles between them";
  algorithm
    residue := {R2.T[2, :]*R1.T[3, :], R2.T[3, :]*R1.T[1, :], R2.T[1, :]*R1.T[2, :]};
  end equalityConstraint;
  annotation(Documentation(info = "<html>
<p>The matrix <b>T</b> turns a vector that is resolved in the world into one that is resolved in the frame. Its rows are the axes of the frame. The angular velocity follows
from it; both are carried along, so that nothing has to be differentiated.</p>
</html>"));
end Orientation;
