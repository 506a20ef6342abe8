within Gyrator.Fluid;
package Media "Equations of substances: density, enthalpy and viscosity as functions of pressure and temperature"
  extends Icons.Folder;

  partial package Medium "What every medium offers"
    constant String name = "" "Name";
    constant Units.Pressure pRef = 1.01325e5 "Pressure of reference";
    constant Units.Temperature TRef = 273.15 "Temperature at which the specific enthalpy is zero";

    replaceable partial function density "Density"
      input Units.Pressure p "Pressure";
      input Units.Temperature T "Temperature";
      output Units.Density d "Density";
    end density;

    replaceable partial function enthalpy "Specific enthalpy"
      input Units.Pressure p "Pressure";
      input Units.Temperature T "Temperature";
      output Units.SpecificEnthalpy h "Specific enthalpy";
    end enthalpy;

    replaceable partial function temperature "Temperature from the specific enthalpy"
      input Units.Pressure p "Pressure";
      input Units.SpecificEnthalpy h "Specific enthalpy";
      output Units.Temperature T "Temperature";
    end temperature;

    replaceable partial function viscosity "Dynamic viscosity"
      input Units.Pressure p "Pressure";
      input Units.Temperature T "Temperature";
      output Units.DynamicViscosity eta "Dynamic viscosity";
    end viscosity;
    annotation(Documentation(info = "<html>
<p>A medium gives density and specific enthalpy as functions of pressure and temperature, and the temperature from the enthalpy.</p>
</html>"));
  end Medium;

  partial package LinearLiquid "Liquid of constant heat capacity that expands a little with temperature and yields a little to pressure"
    extends Medium;
    constant Units.Density d0 = 1000 "Density at pressure and temperature of reference";
    constant Units.SpecificHeatCapacity cp = 4186 "Specific heat capacity";
    constant Units.TemperatureCoefficient expansion = 0 "Thermal expansion";
    constant Real compressibility(unit = "1/Pa") = 0 "Compressibility";
    constant Units.DynamicViscosity eta0 = 1e-3 "Dynamic viscosity";

    redeclare function extends density "Density"
    algorithm
      d := d0*(1 - expansion*(T - TRef) + compressibility*(p - pRef));
    end density;

    redeclare function extends enthalpy "Specific enthalpy"
    algorithm
      h := cp*(T - TRef) + (p - pRef)/d0;
    end enthalpy;

    redeclare function extends temperature "Temperature from the specific enthalpy"
    algorithm
      T := TRef + (h - (p - pRef)/d0)/cp;
    end temperature;

    redeclare function extends viscosity "Dynamic viscosity"
    algorithm
      eta := eta0;
    end viscosity;
  end LinearLiquid;

  package Water "Water"
    extends LinearLiquid(name = "water", d0 = 998, cp = 4182, expansion = 2.1e-4, compressibility = 4.6e-10, eta0 = 1e-3);
  end Water;

  package Oil "Hydraulic oil"
    extends LinearLiquid(name = "oil", d0 = 870, cp = 1900, expansion = 7e-4, compressibility = 6e-10, eta0 = 0.04);
  end Oil;

  partial package IdealGas "Gas that obeys p = d R T, with constant heat capacity"
    extends Medium;
    constant Units.SpecificHeatCapacity R = 287 "Gas constant by molar mass";
    constant Units.SpecificHeatCapacity cp = 1005 "Specific heat capacity at constant pressure";
    constant Units.DynamicViscosity eta0 = 1.8e-5 "Dynamic viscosity";

    redeclare function extends density "Density"
    algorithm
      d := p/(R*T);
    end density;

    redeclare function extends enthalpy "Specific enthalpy"
    algorithm
      h := cp*(T - TRef);
    end enthalpy;

    redeclare function extends temperature "Temperature from the specific enthalpy"
    algorithm
      T := TRef + h/cp;
    end temperature;

    redeclare function extends viscosity "Dynamic viscosity"
    algorithm
      eta := eta0;
    end viscosity;
  end IdealGas;

  package Air "Dry air"
    extends IdealGas(name = "air", R = 287, cp = 1005, eta0 = 1.8e-5);
  end Air;
end Media;
