/** What the ledger is asked besides its rows: whether it is whole, and how a person closes what nobody knows the end of. */
import { z } from 'zod';
import { finding } from '../events/call.events.ts';
import { interval } from './contract.ts';

const time = interval.shape.from;
const count = z.number().int().nonnegative();
const position = z.number().int().positive();

export const ledgerVerified = z.object({
  ok: z.boolean().describe('No gap, no edit, and the hash that was expected is there.'),
  facts: count.describe('How many were looked at.'),
  unchained: count.describe('Facts of before there was a chain; what they say cannot be checked.'),
  from: position.nullable().describe('Where the chain begins.'),
  tip: z
    .object({ position, hash: z.string(), at: time })
    .nullable()
    .describe(
      'The newest fact and its hash: note it elsewhere to find out later whether the end was cut or made anew.',
    ),
  findings: z
    .array(
      z.object({
        position: count,
        kind: z.enum(['edited', 'gap', 'unchained', 'cut', 'ledger']),
        message: z.string(),
      }),
    )
    .describe('At most a hundred, ascending but for those about the end.'),
  more: count.describe('Findings beyond those.'),
  expected: z
    .object({ hash: z.string(), position: position.nullable().describe('null: no fact has it.') })
    .nullable()
    .describe('The hash that was asked for.'),
});

export const closeBody = z
  .strictObject({
    finding: finding.describe('What the person found out.'),
    note: z.string().max(1000).optional(),
  })
  .meta({ examples: [{ finding: 'not-run', note: 'The file is unchanged.' }] });
