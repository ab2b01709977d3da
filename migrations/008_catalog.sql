-- Every list of tools a server ever had, as received: what changed is the difference of two neighbours.
create table catalog (
  position integer primary key,
  server   text    not null,
  at       integer not null,
  tools    text    not null
) strict;
create index catalog_by_server on catalog (server, position);
