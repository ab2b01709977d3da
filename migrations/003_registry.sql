-- The last known tools of each server, as received.
create table registry (
  server    text    primary key,
  position  integer not null,
  signature text    not null,
  tools     text    not null,
  warnings  text    not null
) strict, without rowid;
