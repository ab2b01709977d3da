-- How each server was after every so many of its facts: what `at=` starts from instead of folding a stream from its beginning.
create table status_marks (
  server     text    not null,
  position   integer not null,
  configured integer,
  row        text    not null,
  primary key (server, position)
) strict, without rowid;
