// first


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
// last