model M
end M;
end M;
model N
end N;
