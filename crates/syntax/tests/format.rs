//! The formatter: text in, text out.

use base::{FileId, Id};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let file = FileId::from_index(0);
    let formatted = syntax::parse(file, text).format().expect("the text is sound");
    expected.assert_eq(&formatted);
    assert_eq!(syntax::parse(file, &formatted).format().as_ref(), Some(&formatted));
}

#[test]
fn classes_and_sections() {
    check(
        r#"within   A . B ;
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
"#,
        expect![[r#"
            within A.B;
            package P "a package"
              model M "a model"
                extends A(x=1, y(start=2));
                import SI = Modelica.Units.SI;
                import A.B.*;
                import A.{b, c};
                import A. *;
                parameter Real x = 1 "text" annotation(Evaluate=true);
              protected
                Real y[3](each start=0) = {1, 2, 3} if b;
                replaceable model N = A constrainedby B(c=1) "text";

                inner outer Real z;
                type E = enumeration(a "text", b);
                type F = enumeration(:);
                function g = der(f, x);
              equation
                x = -y[1]*(z + 2)^2/3;
              initial equation
                x = .Modelica.Constants.pi;
              algorithm
                y[1:end - 1] := x;
                (a, , b) := f(1, k=2);
                annotation(Icon(graphics={}));
              end M;
              function h
                input Real u;
                output Real v;
              external "C" v = h(u) annotation(Library="m");
              end h;
            end P;
        "#]],
    );
}

#[test]
fn blocks() {
    check(
        r#"model M
equation
if a then x=1; elseif b and not c then x=2; if d then y=1; end if; else x = 3; end if;
for i in 1:n,j loop z[i,j]=if i==j then 1 else 0; end for;
when {a,b} then reinit( x,-1 ); elsewhen c then x=pre(x); end when;
connect( a.p , b.n ) annotation( Line( points = {{0,0},{1,-1}} ) ); assert( x>0 or y<>1,"text" + "more" );
algorithm while x>1 loop x:=x-1; break; end while; return;
end M;
"#,
        expect![[r#"
            model M
            equation
              if a then
                x = 1;
              elseif b and not c then
                x = 2;
                if d then
                  y = 1;
                end if;
              else
                x = 3;
              end if;
              for i in 1:n, j loop
                z[i, j] = if i == j then 1 else 0;
              end for;
              when {a, b} then
                reinit(x, -1);
              elsewhen c then
                x = pre(x);
              end when;
              connect(a.p, b.n) annotation(Line(points={{0, 0}, {1, -1}}));
              assert(x > 0 or y <> 1, "text" + "more");
            algorithm
              while x > 1 loop
                x := x - 1;
                break;
              end while;
              return;
            end M;
        "#]],
    );
}

#[test]
fn comments_and_line_breaks() {
    check(
        r#"// first


/* second
     with its own layout */
model M // behind

    // before x
 Real x; // behind x
 /* before y */ Real y( // why
   start = 1, /* here */
         fixed = true
       )
    "text";



      // before the end
equation
        // an equation
   x = a
     +b // and
     +f(
  1,
   2);
   if a then
     x=1;
       // in the branch
   else // why not
     y=1
     ;
   end if;
  annotation(Documentation(info="<html>
  kept as it is
</html>"));
end M;
// last"#,
        expect![[r#"
            // first

            /* second
                 with its own layout */
            model M // behind

              // before x
              Real x; // behind x
              /* before y */
              Real y( // why
                start=1, /* here */
                fixed=true
              )
                "text";

            // before the end
            equation
              // an equation
              x = a
                + b // and
                + f(
                  1,
                  2);
              if a then
                x = 1;
                // in the branch
              else // why not
                y = 1;
              end if;
              annotation(Documentation(info="<html>
              kept as it is
            </html>"));
            end M;
            // last
        "#]],
    );
}

#[test]
fn operators_that_must_not_melt_together() {
    check(
        "model M Real x = 2 .* a ./ b .^ c + 2. * d - .5 * e / .A.b; Real y = 1 : .5 : n; Real z = a * (-b) + (- c); end M;",
        expect![[r#"
            model M
              Real x = 2 .* a ./ b .^ c + 2.*d - .5*e/.A.b;
              Real y = 1:.5:n;
              Real z = a*(-b) + (-c);
            end M;
        "#]],
    );
}

#[test]
fn nothing_and_little() {
    check("", expect![""]);
    check("  \n\n", expect![""]);
    check(
        "\n\n// only a comment",
        expect![[r#"
        // only a comment
    "#]],
    );
    check(
        "\u{feff}model M end M;\r\n",
        expect![[r#"
        ﻿model M
        end M;
    "#]],
    );
}

#[test]
fn a_text_with_errors_is_left_alone() {
    assert_eq!(syntax::parse(FileId::from_index(0), "model M Real x end M;").format(), None);
}
