/** What `doctor` says of connected AI clients. Loaded by the command, and only where one is connected. */
import type { ClientFinding } from '../clients/findings.ts';
import { clientCalled } from '../clients/known.ts';
import { type Looked, lookAtClients } from './client.list.ts';
import { warningText } from './client.words.ts';
import type { Context, View } from './command.ts';
import { oneLine } from './paint.ts';

export interface ClientsExamined {
  /** false: a client does not work as its file stands. What is only not as it is to be does not count. */
  readonly ok: boolean;
  /** Part of what `--json` prints. */
  readonly json: {
    readonly findings: Looked['findings'];
    readonly warnings: Looked['warnings'];
    readonly problem?: string;
  };
  readonly text: (view: View) => string;
  /** Lines for stderr; empty when there is nothing to warn about. */
  readonly warning: string;
}

/** Never rejects for what a file holds: servers are to be told of whatever is wrong with clients. */
export async function examineClients(context: Context): Promise<ClientsExamined> {
  try {
    const looked = await lookAtClients(context);
    return {
      ok: looked.findings.every(({ severity }) => severity !== 'error'),
      json: { findings: looked.findings, warnings: looked.warnings },
      text: (view) => clientsText(looked, view),
      warning: warningText(looked.warnings),
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { message } = error;
    return {
      ok: false,
      json: { findings: [], warnings: [], problem: message },
      text: () => '',
      warning: `warning: ${oneLine(message)}\n`,
    };
  }
}

const marks = { error: ['red', 'wrong'], warning: ['yellow', 'drift'], info: ['dim', 'note '] } as const;

/** A line for each client that is as it is to be; a line for each finding about the others, with what mends it. */
function clientsText({ registry, findings, health }: Looked, { paint }: View): string {
  return Object.entries(registry)
    .map(([id, { entries, file }]) => {
      const name = clientCalled(id)?.name ?? id;
      const own = findings.filter(({ client }) => client === id);
      const unsure = health === null ? '; only its file was looked at' : '';
      const head = own.some(({ severity }) => severity !== 'info')
        ? ''
        : `${paint('green', 'ok   ')}  ${paint('bold', name)}  ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'} in ${oneLine(file)}${unsure}\n`;
      return head + own.map((finding) => line(finding, paint)).join('');
    })
    .join('');
}

function line({ severity, message, kind, fix }: ClientFinding, paint: View['paint']): string {
  const [color, word] = marks[severity];
  return `${paint(color, word)}  ${oneLine(message)} (${kind})\n${' '.repeat(7)}${paint('bold', `watchkeeper ${fix}`)}\n`;
}
