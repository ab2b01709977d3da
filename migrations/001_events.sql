-- The log. `version` counts within a stream; the pair is what makes an append conditional.
create table events (
  position integer primary key,
  stream   text    not null,
  version  integer not null,
  type     text    not null,
  schema   integer not null,
  at       integer not null,
  cause    text,
  data     text    not null,
  unique (stream, version)
) strict;

-- When the daemon was last known alive: touched with each batch and every few seconds, so that it is not an event.
create table alive (
  one integer primary key check (one = 1),
  at  integer not null
) strict;
