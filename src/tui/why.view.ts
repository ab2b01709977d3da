/** Why a server is as it is, drawn. Pure. */
import { cell, foreign, foreignLines, type Line, line, span } from './line.ts';
import type { Model, ServerScreen } from './model.ts';
import { dayClock } from './states.ts';

export function whyView(model: Model, { why }: ServerScreen): readonly Line[] {
  if (why === null) return [line(' The log is being read …', 'quiet')];
  const width = model.columns - 2;
  const placed = (at: string, position: number, text: string): readonly Line[] =>
    foreignLines(text, Math.max(20, width - 24)).map(
      (one, index): Line => [
        cell(index === 0 ? String(position) : '', 7, 'quiet', true),
        span('  '),
        cell(index === 0 ? dayClock(at, model.now) : '', 14, 'quiet'),
        ...one,
      ],
    );
  return [
    ...foreignLines(why.summary, width, 'strong').map((one): Line => [span(' '), ...one]),
    [],
    line(' Because, newest first:', 'quiet'),
    ...why.chain.flatMap((link) => placed(link.at, link.position, link.text)),
    ...(why.changes.length === 0 ? [] : [[], line(' What changed around it:', 'quiet')]),
    ...why.changes.flatMap((change) => placed(change.at, change.position, change.text)),
    ...(why.next === null
      ? []
      : [
          [],
          [span(' '), foreign(why.next.text)],
          [
            span('   '),
            foreign(`watchkeeper ${why.next.command}`.replace(/^watchkeeper watchkeeper /, 'watchkeeper '), 'accent'),
          ],
        ]),
  ];
}
