-- One row a server: what GET /v1/mcp/status shows.
create table status (
  server           text    primary key,
  position         integer not null,
  transport        text,
  state            text    not null,
  since            integer not null,
  error            text,
  attempt          integer not null,
  next_attempt_at  integer,
  pid              integer,
  era              text,
  protocol_version text,
  server_info      text,
  instructions     text,
  tools            integer not null,
  last_seen        integer,
  push             integer,
  gone             integer not null
) strict, without rowid;
