within Gyrator.Examples.Drive;
model HeatedDrive "The same drive with a motor that warms up"
  extends PositioningDrive(redeclare HeatedMotor motor);
  annotation(experiment(StopTime = 3),
    Documentation(info = "<html>
<p>One modifier exchanges the motor.</p>
</html>"));
end HeatedDrive;
