within;
package Gyrator "The library that comes with the program"
  annotation(version = "0.1.0", Documentation(info = "<html>
<p>Components of every domain, written so that they can be read. The library is part of the program: nothing needs to be
installed, and its names never clash with those of the Modelica Standard Library.</p>
</html>"));
end Gyrator;
