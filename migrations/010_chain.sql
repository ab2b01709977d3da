-- Each fact's hash over itself and the hash before: what `ledger verify` follows. Null for facts of before this format.
alter table events add column chain text;
