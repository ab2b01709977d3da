-- The ledger: one row a call, never its arguments or results. `seq` is the position of the call's first fact.
create table calls (
  seq          integer primary key,
  id           text    not null unique,
  server       text    not null,
  tool         text    not null,
  name         text    not null,
  state        text    not null,
  outcome      text,
  mode         text    not null,
  client       text    not null,
  door         text    not null,
  verdict      text,
  requested_at integer not null,
  started_at   integer,
  settled_at   integer,
  expires_at   integer,
  args_hash    text    not null,
  args_bytes   integer not null,
  result_bytes integer,
  truncated    integer,
  decided_by   text,
  reason       text,
  unusual      text    not null default '[]'
) strict;
create index calls_open on calls (state) where state <> 'settled';
