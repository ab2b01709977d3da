/** A call that waits for a person, over whatever is shown. Pure. */
import { Box } from 'ink';
import { type ReactNode, useContext } from 'react';
import type { Call } from '../api/client.ts';
import { bytes, exactDuration } from '../cli/duration.ts';
import { oneLine } from '../cli/paint.ts';
import { bodyRows } from './layout.ts';
import { foreign, type Line, line, span } from './line.ts';
import { isArmed, shownCall } from './model.held.ts';
import { readable } from './readable.ts';
import type { Model } from './state.ts';
import { Colors, fieldSpans, keysLine, Rows, spread } from './view.parts.tsx';

function linesOf(model: Model, call: Call, rows: number, width: number): readonly Line[] {
  const { held, now } = model;
  const waiting = held.calls.filter(({ id }) => !held.later.has(id));
  const left = call.expiresAt === null ? '' : `${exactDuration(Math.max(0, Date.parse(call.expiresAt) - now))} left`;
  const tool = `${oneLine(call.tool)} of ${call.server}`;
  const count = waiting.length > 1 ? `1 of ${waiting.length} · ` : '';
  const args = call.arguments === undefined ? [line('  (not shown any more)', 'quiet')] : argumentLines(call, width);
  const unusual = (call.unusual ?? []).map((text): Line => [span('! ', 'warn'), foreign(text, 'warn')]);
  const head: readonly Line[] = [
    spread([span('A call waits for you', 'strong')], [span(`${count}${left}`, 'warn')], width),
    [],
    [span(tool, 'strong'), span(`  ${oneLine(call.name)}`, 'quiet')],
    [span(askedBy(call), 'quiet')],
    ...unusual,
    [],
    [span('Arguments', 'quiet'), span(`  ${bytes(call.argsBytes)}`, 'quiet')],
  ];
  const foot = footOf(model, width);
  const room = Math.max(1, rows - head.length - foot.length - 1);
  const from = Math.max(0, Math.min(held.scroll, args.length - room));
  const shown = args.slice(from, from + room);
  const below = args.length - from - shown.length;
  return [
    ...head,
    ...shown,
    ...Array.from({ length: room - shown.length }, () => []),
    line(below > 0 ? `  ↓ ${below} more lines` : '', 'warn'),
    ...foot,
  ];
}

/** Who asked, in words; a client is called by its name. */
function askedBy({ client, door }: Call): string {
  if (client === 'socket') return 'asked for by a program of yours, over the local socket';
  const way = door === 'mcp' ? 'MCP' : oneLine(door).toUpperCase();
  return client === 'main'
    ? `asked for with the main token, over ${way}`
    : `asked for by ${oneLine(client)}, over ${way}`;
}

const argumentLines = (call: Call, width: number): readonly Line[] =>
  Object.keys(call.arguments ?? {}).length === 0
    ? [line('  none', 'quiet')]
    : readable(call.arguments, width - 2).map((one) => [span('  '), ...one]);

function footOf(model: Model, width: number): readonly Line[] {
  const { held } = model;
  if (held.deciding !== null) return [line('Telling the daemon …', 'busy'), []];
  if (held.reason !== null)
    return [
      [span('Why not?  ', 'strong'), ...fieldSpans(held.reason, width - 12)],
      keysLine(
        [
          ['Enter', 'denies, with or without a reason'],
          ['Esc', 'back'],
        ],
        width,
      ),
    ];
  if (!isArmed(model)) return [line('Keys count once the keyboard is still for a moment.', 'quiet'), []];
  return [
    keysLine(
      [
        ['o', 'run once'],
        ['t', 'always this tool'],
        ['s', 'always this server'],
      ],
      width,
    ),
    keysLine(
      [
        ['d', 'deny'],
        ['l', 'later'],
        ['↑↓', 'scroll'],
      ],
      width,
    ),
  ];
}

/** Nothing when no call waits, or all were put off. */
export function HeldCall({ model }: { readonly model: Model }): ReactNode {
  const colored = useContext(Colors);
  const call = shownCall(model.held);
  if (call === null) return null;
  const rows = bodyRows(model.size);
  const width = model.size.columns;
  return (
    <Box
      borderStyle="round"
      {...(colored ? { borderColor: 'magenta' } : {})}
      height={rows}
      width={width}
      paddingX={1}
      flexDirection="column"
    >
      <Rows lines={linesOf(model, call, rows - 2, width - 4)} rows={rows - 2} width={width - 4} />
    </Box>
  );
}
