-- The fold of every long-lived stream: what boot and the version check read instead of folding.
create table heads (
  stream  text    primary key,
  version integer not null,
  state   text    not null,
  context text    not null
) strict, without rowid;
