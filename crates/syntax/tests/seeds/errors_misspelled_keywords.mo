pakage P
  modle M
    paramter Real x = 1;
    final inptu Real u;
    improt A.B;
    Real y;
  equatoin
    der(x) = y;
    connect(a, b);
  end M;
  fucntion f "with a description"
    input Real x;
  end f;
  partial modell N
  end N;
end P;
