model M
equation
if a then x=1; elseif b and not c then x=2; if d then y=1; end if; else x = 3; end if;
for i in 1:n,j loop z[i,j]=if i==j then 1 else 0; end for;
when {a,b} then reinit( x,-1 ); elsewhen c then x=pre(x); end when;
connect( a.p , b.n ) annotation( Line( points = {{0,0},{1,-1}} ) ); assert( x>0 or y<>1,"text" + "more" );
algorithm while x>1 loop x:=x-1; break; end while; return;
end M;
