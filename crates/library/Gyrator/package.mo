within;
package Gyrator "The library that comes with the program"
  annotation(version = "0.2.0", Documentation(info = "<html>
<p>Components of every domain, written so that they can be read. The library is part of the program: nothing needs to be
installed, and its names never clash with those of the Modelica Standard Library.</p>
<p>Each component is a handful of equations between the variables of its connectors (<code>Gyrator.Interfaces</code>). Connections
add the rest: potentials are equal, flows sum up to zero. <code>Gyrator.Examples</code> has complete models.</p>
</html>"));
end Gyrator;
