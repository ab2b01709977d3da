import { type CallHeld, type CallResult, isHeld } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { visibleJson } from '../../visible.ts';
import { settled } from '../ask.daemon.ts';
import type { Answer, Command, Context } from '../command.ts';
import { CommandError, exitCode, usedWrongly } from '../failure.ts';
import { flag, span, text } from '../options.ts';
import { exitOf, outcomeSentence, resultOf, resultText } from '../outcome.text.ts';
import { harmless, oneLine } from '../paint.ts';
import { readJsonArguments, readPairs } from '../tool.arguments.ts';
import { findTool, unknownTool } from '../tool.name.ts';

const modes = ['deny', 'ask', 'allow-all'] as const;

const answerOf = (result: CallResult): Answer => ({
  kind: 'answer',
  json: result,
  text: (view) => resultText(result, view),
  exit: result.isError === true ? exitCode.failed : exitOf(result.outcome),
});

/** Nobody is there to ask: the id, and the command that decides. */
const heldAnswer = (held: CallHeld, name: string): Answer => ({
  kind: 'answer',
  json: held,
  text: () => '',
  warning: `${name} waits for a person: call ${held.call}, until ${held.expiresAt}.\n  watchkeeper approve ${held.call}\n`,
  exit: exitCode.refused,
});

/** The person who typed the call decides about it. */
async function decide(
  { api, ask, untilInterrupted }: Context,
  held: CallHeld,
  args: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const { name, unusual = [] } = await api.callById(held.call);
  const lines = [
    `${name} is not allowed to run by itself. Arguments:`,
    `  ${visibleJson(args)}`,
    ...unusual.map((line) => `  ! ${oneLine(line)}`),
  ];
  const interrupted = untilInterrupted();
  const left = new Promise<null>((resolve) => {
    interrupted.addEventListener('abort', () => resolve(null), { once: true });
  });
  const asked = ask?.({
    text: `${harmless(lines.join('\n'))}\nRun it?`,
    choices: [
      { key: 'o', label: 'once' },
      { key: 'a', label: 'this tool always' },
      { key: 'n', label: 'no' },
    ],
    otherwise: 'n',
  });
  const answer = await Promise.race([asked, left]);
  if (interrupted.aborted) {
    // Whoever leaves the question does not want the call any more; it must not wait for somebody to approve it.
    await api.cancel(held.call);
    throw new CommandError(`You left; ${name} did not run.`, {
      exit: exitCode.failed,
      next: [`ledger show ${held.call}`],
    });
  }
  if (answer !== 'o' && answer !== 'a') {
    await api.deny(held.call);
    throw new CommandError(`You said no; ${name} did not run.`, { exit: exitCode.refused, next: ['approvals'] });
  }
  await api.approve(held.call, answer === 'a' ? 'tool' : 'once');
  const call = await settled(api, held.call);
  const result = resultOf(call);
  if (result) return answerOf(result);
  const exit = exitOf(call.outcome);
  if (exit !== exitCode.done) throw new CommandError(outcomeSentence(call), { exit, next: [`status ${call.server}`] });
  return { kind: 'answer', json: call, text: () => '', notes: [outcomeSentence(call)] };
}

export const call: Command = {
  description: {
    name: 'call',
    group: 'Tools and calls',
    summary: 'call a tool and print its answer',
    arguments: [
      { name: '<tool>', about: 'mcp__server__tool, server.tool, or the name of a tool that only one server has' },
      { name: '[key=value...]', about: 'arguments; JSON where it parses and the tool does not want text there' },
    ],
    options: [
      { flags: '--json-args <json>', about: 'all arguments as one JSON object' },
      {
        flags: '--mode <mode>',
        about: 'ask: a person decides where no grant does; deny: never wait; allow-all: do not ask',
        choices: modes,
      },
      { flags: '--wait', about: 'in a pipe: wait a while for a person to approve instead of ending at once' },
      { flags: '--timeout <span>', about: 'give up when the server does not answer for so long, such as 30s' },
    ],
    examples: [
      { line: 'call mcp__memory__search_nodes query=ships', about: 'by the registered name' },
      {
        line: 'call time.convert_time time=14:30 source_timezone=UTC target_timezone=Asia/Tokyo',
        about: 'by server and tool',
      },
      { line: `call create_entities --json-args '{"entities":[]}'`, about: 'arguments that are no plain values' },
    ],
  },
  async run(context, { positional: [word = '', ...pairs] }, options) {
    const { api, ask } = context;
    const json = text(options, 'jsonArgs');
    if (json !== undefined && pairs.length > 0)
      throw usedWrongly('Give key=value words or --json-args, not both.', 'call --help');
    const { tools } = await api.tools();
    const { name, tool } = findTool(word, tools);
    const read = json === undefined ? readPairs(pairs, tool?.parameters) : readJsonArguments(json);
    if ('wrong' in read) throw usedWrongly(read.wrong, `tools ${tool?.server ?? ''} --json`.replace('  ', ' '));
    const answer = await api
      .call({
        tool: name,
        arguments: read.arguments,
        mode: modes.find((mode) => mode === text(options, 'mode')),
        timeoutMs: span(options, 'timeout'),
        wait: ask === null && flag(options, 'wait'),
      })
      .catch((error: unknown) => {
        throw error instanceof ApiError && error.code === 'unknown-tool' ? unknownTool(word, tools) : error;
      });
    if (!isHeld(answer)) return answerOf(answer);
    return ask ? decide(context, answer, read.arguments) : heldAnswer(answer, name);
  },
};
