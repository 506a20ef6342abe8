within   A . B ;
package P "a package"
model M "a model"   extends A( x=1,y( start = 2 ) );
import  SI=Modelica.Units.SI ; import A.B.*; import A.{ b ,c }; import A . * ;
parameter Real x=1 "text" annotation( Evaluate = true ); protected Real y [ 3 ] ( each  start=0 )={1,2,3} if  b;
replaceable model N=A constrainedby B( c=1 )  "text";


inner   outer Real z; type E=enumeration( a "text",b );type F = enumeration( : ); function g=der( f,x );
equation x=- y[ 1 ]*( z+2 )^2/3; initial equation
x  =  .Modelica.Constants.pi; algorithm
  y[1:end-1]:=x; (a, ,b) := f( 1,k = 2 ) ;
annotation( Icon( graphics = { } ) ); end M ;
function h input Real u; output Real v; external   "C" v=h( u ) annotation(Library="m"); end h;
end P ;
