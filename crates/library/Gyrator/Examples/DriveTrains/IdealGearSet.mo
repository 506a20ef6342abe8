within Gyrator.Examples.DriveTrains;
model IdealGearSet "The gearbox with ideal clutches, brakes and freewheels"
  extends GearSet(
    redeclare model Clutch = SwitchedClutch,
    redeclare model Brake = SwitchedBrake,
    redeclare model Freewheel = Rotational.Ideal.Freewheel);
  annotation(Documentation(info = "<html>
<p>Engaging joins shafts at once: their speeds jump, and angular momentum is conserved.</p>
</html>"));
end IdealGearSet;
