-- Intervals of each server's state: no gaps, no overlaps, the last one open.
create table history (
  server   text    not null,
  seq      integer not null,
  state    text    not null,
  started  integer not null,
  ended    integer,
  cause    text    not null,
  position integer not null,
  primary key (server, seq)
) strict, without rowid;
