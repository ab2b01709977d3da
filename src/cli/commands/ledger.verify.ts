import type { LedgerVerified } from '../../api/client.ts';
import type { DaemonUnreachable } from '../../api/errors.ts';
import { unlessNoDaemon } from '../ask.daemon.ts';
import type { Answer, Command, Context } from '../command.ts';
import { exitCode } from '../failure.ts';
import { verifiedText } from '../ledger.text.ts';
import { text } from '../options.ts';

/** Views are made anew only where the facts themselves are whole: else what they said before would be lost. */
function notesOn({ ok, tip, findings }: LedgerVerified): string[] {
  if (ok) return tip ? [`Note this hash elsewhere; later: watchkeeper ledger verify --expect ${tip.hash}`] : [];
  if (findings.length > 0 && findings.every(({ kind }) => kind === 'ledger'))
    return ['The facts are whole; the ledger is made anew from them by: watchkeeper rebuild'];
  return ['Keep the file as it is, and compare it with a copy: watchkeeper backup <file>'];
}

const answer = (verified: LedgerVerified): Answer => ({
  kind: 'answer',
  json: verified,
  text: (view) => verifiedText(verified, view),
  exit: verified.ok ? exitCode.done : exitCode.failed,
  notes: notesOn(verified),
});

async function offline({ files }: Context, expect: string | undefined, why: DaemonUnreachable): Promise<Answer> {
  const { verifyOffline } = await import('../offline.ledger.ts');
  return answer(await verifyOffline(files.databaseFile, expect, why));
}

export const ledgerVerify: Command = {
  description: {
    name: 'ledger verify',
    group: 'Log',
    summary: 'find out whether a fact of the log is missing or was changed',
    options: [{ flags: '--expect <hash>', about: 'a hash you noted earlier: it must still be there' }],
    examples: [
      { line: 'ledger verify', about: 'follows the chain of hashes; exit 1 when it breaks' },
      { line: 'ledger verify --expect WuUzmAPlAp_GSGvw5hRd', about: 'and that its end was not cut or made anew' },
    ],
  },
  run: (context, _words, options) => {
    const expect = text(options, 'expect');
    return unlessNoDaemon(
      context.api,
      async () => answer(await context.api.verifyLedger({ expect })),
      (why) => offline(context, expect, why),
    );
  },
};
