within Gyrator;
package Units "Physical types: numbers that know what they measure"
  extends Icons.Folder;

  // ---------------------------------------------------------------- geometry and motion
  type Length = Real(quantity = "Length", unit = "m");
  type Position = Real(quantity = "Length", unit = "m");
  type Radius = Real(quantity = "Length", unit = "m", min = 0);
  type Area = Real(quantity = "Area", unit = "m2", min = 0);
  type Volume = Real(quantity = "Volume", unit = "m3");
  type Velocity = Real(quantity = "Velocity", unit = "m/s");
  type Acceleration = Real(quantity = "Acceleration", unit = "m/s2");
  type Angle = Real(quantity = "Angle", unit = "rad", displayUnit = "deg");
  type AngularVelocity = Real(quantity = "AngularVelocity", unit = "rad/s", displayUnit = "rev/min");
  type AngularAcceleration = Real(quantity = "AngularAcceleration", unit = "rad/s2");
  type Frequency = Real(quantity = "Frequency", unit = "Hz");
  type Time = Real(quantity = "Time", unit = "s");

  // ---------------------------------------------------------------- mechanics
  type Mass = Real(quantity = "Mass", unit = "kg", min = 0);
  type Inertia = Real(quantity = "MomentOfInertia", unit = "kg.m2");
  type Force = Real(quantity = "Force", unit = "N");
  type Torque = Real(quantity = "Torque", unit = "N.m");
  type Impulse = Real(quantity = "Impulse", unit = "N.s");
  type Stiffness = Real(quantity = "Stiffness", unit = "N/m", min = 0);
  type Damping = Real(quantity = "Damping", unit = "N.s/m", min = 0);
  type RotationalStiffness = Real(quantity = "RotationalStiffness", unit = "N.m/rad", min = 0);
  type RotationalDamping = Real(quantity = "RotationalDamping", unit = "N.m.s/rad", min = 0);
  type Energy = Real(quantity = "Energy", unit = "J");
  type Power = Real(quantity = "Power", unit = "W");

  // ---------------------------------------------------------------- electricity
  type Voltage = Real(quantity = "Voltage", unit = "V");
  type Current = Real(quantity = "Current", unit = "A");
  type Charge = Real(quantity = "Charge", unit = "C");
  type Resistance = Real(quantity = "Resistance", unit = "Ohm");
  type Conductance = Real(quantity = "Conductance", unit = "S");
  type Capacitance = Real(quantity = "Capacitance", unit = "F", min = 0);
  type Inductance = Real(quantity = "Inductance", unit = "H");
  type FluxLinkage = Real(quantity = "FluxLinkage", unit = "V.s");
  type MachineConstant = Real(quantity = "MachineConstant", unit = "N.m/A");

  // ---------------------------------------------------------------- heat
  type Temperature = Real(quantity = "Temperature", unit = "K", displayUnit = "degC", min = 0, start = 293.15, nominal = 300);
  type TemperatureDifference = Real(quantity = "TemperatureDifference", unit = "K");
  type HeatFlow = Real(quantity = "HeatFlow", unit = "W");
  type EntropyFlow = Real(quantity = "EntropyFlow", unit = "W/K");
  type HeatCapacity = Real(quantity = "HeatCapacity", unit = "J/K", min = 0);
  type ThermalConductance = Real(quantity = "ThermalConductance", unit = "W/K", min = 0);
  type ThermalResistance = Real(quantity = "ThermalResistance", unit = "K/W", min = 0);
  type TemperatureCoefficient = Real(quantity = "TemperatureCoefficient", unit = "1/K");
  type SpecificHeatCapacity = Real(quantity = "SpecificHeatCapacity", unit = "J/(kg.K)");

  // ---------------------------------------------------------------- fluids and matter
  type Pressure = Real(quantity = "Pressure", unit = "Pa", displayUnit = "bar", nominal = 1e5);
  type PressureDifference = Real(quantity = "Pressure", unit = "Pa", displayUnit = "bar", nominal = 1e5);
  type VolumeFlow = Real(quantity = "VolumeFlow", unit = "m3/s");
  type MassFlow = Real(quantity = "MassFlow", unit = "kg/s");
  type Density = Real(quantity = "Density", unit = "kg/m3", min = 0, nominal = 1000, start = 1000);
  type DynamicViscosity = Real(quantity = "DynamicViscosity", unit = "Pa.s", min = 0);
  type SpecificEnthalpy = Real(quantity = "SpecificEnthalpy", unit = "J/kg", nominal = 1e5);
  type SpecificEnergy = Real(quantity = "SpecificEnergy", unit = "J/kg", nominal = 1e5);
  type BulkModulus = Real(quantity = "BulkModulus", unit = "Pa", min = 0, nominal = 1e9);
  type AmountOfSubstance = Real(quantity = "AmountOfSubstance", unit = "mol");
  type MolarFlow = Real(quantity = "MolarFlow", unit = "mol/s");
  type Concentration = Real(quantity = "Concentration", unit = "mol/m3");
  type ChemicalPotential = Real(quantity = "ChemicalPotential", unit = "J/mol", nominal = 1e4);
  type MolarEntropy = Real(quantity = "MolarEntropy", unit = "J/(mol.K)");

  // ---------------------------------------------------------------- constants of nature
  constant Real pi = 2*acos(0.0) "Circumference of a circle by its diameter";
  constant Acceleration standardGravity = 9.80665 "Acceleration of free fall";
  constant MolarEntropy gasConstant = 8.31446261815324 "Molar gas constant";

  annotation(Documentation(info = "<html>
<p>Each type gives a number its <code>quantity</code> and its <code>unit</code>. Equations are written in that unit, and it is
checked that both sides agree. <code>displayUnit</code> says in which unit people read the number: an angle in degrees, a
pressure in bar.</p>
</html>"));
end Units;
