-- What each entry of the allowlist grants, and what it is bound to.
create table grants (
  entry      text    primary key,
  state      text    not null check (state in ('unbound', 'bound', 'suspended')),
  identity   text,
  definition text,
  origin     text    not null,
  granted_by text    not null,
  at         integer not null,
  position   integer not null
) strict, without rowid;
