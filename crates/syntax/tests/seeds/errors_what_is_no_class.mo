within A.B
x = 1;
model M
end M;
within C;
;
