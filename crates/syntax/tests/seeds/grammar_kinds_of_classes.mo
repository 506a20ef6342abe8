encapsulated package P "text"
  class A end A; model B end B; record C end C; operator record D end D; block E end E;
  connector F end F; expandable connector G end G; type H = Real; partial package I end I;
  function J end J; pure function K end K; impure function L end L; operator function M end M; operator N end N;
  encapsulated operator O = P.N; pure operator function Q end Q; partial function R end R;
  model extends S(a = 1) "more" Real x; end S; redeclare replaceable model extends T end T;
end P;