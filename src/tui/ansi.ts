/** Lines as text for a terminal: the one place where tones become colours. Pure. */
import { type Line, type Tone, widthOfLine } from './line.ts';

/** Colours that can be read on a dark and on a light ground alike: neither yellow nor white nor black. */
const codes: Readonly<Record<Tone, { readonly style: string; readonly color: string }>> = {
  plain: { style: '', color: '' },
  strong: { style: '1', color: '' },
  quiet: { style: '2', color: '' },
  good: { style: '', color: '32' },
  bad: { style: '1', color: '31' },
  warn: { style: '', color: '35' },
  busy: { style: '', color: '36' },
  accent: { style: '1', color: '36' },
};

/** One line; without colours weight and swapped ground stay, since they are none. */
export function lineText(spans: Line, color: boolean): string {
  return spans
    .map(({ text, tone = 'plain', marked = false }) => {
      const { style, color: ink } = codes[tone];
      const all = [style, color ? ink : '', marked ? '7' : ''].filter((code) => code !== '').join(';');
      return all === '' || text === '' ? text : `\u001b[${all}m${text}\u001b[0m`;
    })
    .join('');
}

/** The screen as one text. Every line ends before the last column's edge, and none is empty: Ink drops what is. */
export const screenText = (lines: readonly Line[], color: boolean): string =>
  lines.map((one) => (widthOfLine(one) === 0 ? ' ' : lineText(one, color))).join('\n');
