within Gyrator.Examples.DriveTrains;
model IdealFourSpeedVehicle "The same vehicle with ideal clutches and brakes in the gearbox"
  extends FourSpeedVehicle(redeclare IdealGearSet gearbox);
  annotation(experiment(StopTime = 32, Tolerance = 1e-6),
    Documentation(info = "<html>
<p>What the ratios of the gears decide is the same as with friction; only the shifts are instants.</p>
</html>"));
end IdealFourSpeedVehicle;
