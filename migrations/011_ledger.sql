-- The ledger says to what a call was bound, what came back, and how a person closed it if nobody knew its end.
alter table calls add column identity text not null default '';
alter table calls add column definition text not null default '';
alter table calls add column result_hash text;
alter table calls add column took_ms real;
alter table calls add column closed text;
update calls set
  identity = coalesce((select json_extract(e.data, '$.identity') from events e where e.position = calls.seq),
                      (select json_extract(e.data, '$.request.identity') from events e where e.position = calls.seq), ''),
  definition = coalesce((select json_extract(e.data, '$.definition') from events e where e.position = calls.seq),
                        (select json_extract(e.data, '$.request.definition') from events e where e.position = calls.seq), '');
update calls set
  result_hash = (select json_extract(e.data, '$.resultHash') from events e where e.stream = 'call-' || calls.id and e.type = 'CallSettled'),
  took_ms = (select json_extract(e.data, '$.tookMs') from events e where e.stream = 'call-' || calls.id and e.type = 'CallSettled')
  where state = 'settled';
create index calls_unclosed on calls (seq) where outcome = 'unknown' and closed is null;
