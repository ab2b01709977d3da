/** `import`: reads files of clients and hubs, shows what is in them, writes `mcp.json`. Loaded by the command only. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ClientDescriptor, FillsIn } from '../clients/descriptor.ts';
import { loadFormat } from '../clients/formats/load.ts';
import {
  type Candidate,
  type ImportItem,
  type ImportPlan,
  planImport,
  variableLines,
} from '../clients/incoming.plan.ts';
import { entriesIn, isIncoming, readIncoming } from '../clients/incoming.ts';
import { clientCalled, knownClients } from '../clients/known.ts';
import { thisMachine } from '../clients/machine.ts';
import { configFileOf } from '../clients/places.ts';
import { looksLikeOurs } from '../clients/plan.ts';
import { type Registry, readRegistry } from '../clients/registry.ts';
import { readText } from '../config/files.ts';
import { withoutMark } from '../config/jsonc.ts';
import { parseConfig } from '../config/parse.ts';
import { isObject, type RawObject } from '../config/raw.ts';
import { updateFile } from '../config/update.ts';
import { readVariables } from '../config/variables.ts';
import { unlessNoDaemon } from './ask.daemon.ts';
import { connected } from './client.connect.ts';
import { asSentence, explained, mustBeClient } from './client.words.ts';
import type { Answer, Context } from './command.ts';
import { addToFile } from './edit.file.ts';
import { CommandError, exitCode } from './failure.ts';
import { harmless } from './paint.ts';

interface Asked {
  readonly dryRun: boolean;
  readonly apart: boolean;
  readonly replace: boolean;
  readonly yes: boolean;
}

interface Skipped {
  readonly from: string;
  readonly name: string | null;
  readonly why: string;
}

export async function imported(context: Context, from: string | undefined, asked: Asked): Promise<Answer> {
  const { files } = context;
  const { candidates, skipped } = await gathered(context, from, asked);
  const existing = await existingEntries(files.configFile);
  const { values } = await readVariables(files.variablesFile).catch(() => ({ values: {} }));
  const plan = planImport(existing, candidates, { apart: asked.apart, variables: values });
  const fresh = plan.items.filter(({ action }) => action === 'add');
  const preview = previewText(plan, skipped);
  const json = (written: boolean) => ({
    written,
    dryRun: asked.dryRun,
    // Entries hold secrets, so only their names are told.
    servers: plan.items.map(({ from: origin, original, name, action, notes, secrets }) => ({
      from: origin,
      original,
      name,
      action,
      notes,
      secrets,
    })),
    variables: Object.keys(plan.variables),
    skipped,
  });
  if (asked.dryRun || (fresh.length === 0 && !asked.replace))
    return {
      kind: 'answer',
      json: json(false),
      text: () => preview,
      notes: asked.dryRun && fresh.length > 0 ? [`To take them: watchkeeper ${againWith(from, asked)}`] : [],
    };
  await mustBeWanted(context, asked, preview);
  if (Object.keys(plan.variables).length > 0) await keepVariables(files.variablesFile, plan);
  for (const { name, entry } of fresh) await added(context, name, entry);
  const replaced = asked.replace ? await replacedBy(context, plan.items) : [];
  return {
    kind: 'answer',
    json: { ...json(fresh.length > 0), replaced: replaced.map(({ json: shape }) => shape) },
    text: (view) => `${preview}${replaced.map((answer) => answer.text(view)).join('')}`,
    notes: [
      ...(plan.items.some(({ secrets, action }) => action === 'add' && secrets.length > 0)
        ? [`Secrets stand in ${files.configFile} as they were; to keep them out of it: import --env-secrets`]
        : []),
      'See how it goes: watchkeeper status',
    ],
    ...(replaced.some(({ warning }) => warning !== undefined)
      ? { warning: replaced.map(({ warning }) => warning ?? '').join('') }
      : {}),
  };
}

/** The command that takes what a trial run showed, in the same way: a secret must not end up elsewhere than was seen. */
const againWith = (from: string | undefined, { apart, replace }: Asked): string =>
  [
    'import',
    ...(from === undefined ? [] : [from]),
    ...(apart ? ['--env-secrets'] : []),
    ...(replace ? ['--replace'] : []),
  ].join(' ');

async function mustBeWanted({ ask }: Context, { yes }: Asked, preview: string): Promise<void> {
  if (yes || ask === null) return;
  const said = await ask({
    text: `${preview}Take them?`,
    choices: [
      { key: 'y', label: 'yes' },
      { key: 'n', label: 'no' },
    ],
    otherwise: 'y',
  });
  if (said !== 'y')
    throw new CommandError('Nothing was written.', { exit: exitCode.refused, next: ['import --dry-run'] });
}

async function gathered(
  context: Context,
  from: string | undefined,
  { replace }: Asked,
): Promise<{ candidates: Candidate[]; skipped: Skipped[] }> {
  const machine = thisMachine(context.env);
  const registry = await explained('import', () => readRegistry(context.files.dataDir));
  if (from !== undefined && clientCalled(from) === undefined && isFileName(from, context.cwd)) {
    if (replace)
      throw new CommandError('--replace is for a client, not for a file.', { exit: 2, next: [`import ${from}`] });
    return readOne(from, resolve(context.cwd, from), null, {});
  }
  const clients = from === undefined ? knownClients : [mustBeClient(from, 'import')];
  const candidates: Candidate[] = [];
  const skipped: Skipped[] = [];
  for (const client of clients) {
    const file = registry[client.id]?.file ?? configFileOf(client, machine);
    if (!existsSync(file)) {
      if (from !== undefined)
        throw new CommandError(`${client.name} has no file ${file}.`, {
          next: ['clients --all', `connect ${client.id}`],
        });
      continue;
    }
    try {
      const read = await readOne(client.id, file, client, registry);
      candidates.push(...read.candidates);
      skipped.push(...read.skipped);
    } catch (error) {
      if (from !== undefined || !(error instanceof CommandError)) throw error;
      skipped.push({ from: client.id, name: null, why: error.message });
    }
  }
  return { candidates, skipped };
}

const isFileName = (word: string, cwd: string): boolean => /[/\\.]/.test(word) || existsSync(resolve(cwd, word));

/** What most hubs fill in. */
const usualFillsIn: readonly FillsIn[] = ['braces', 'colon'];

async function readOne(
  from: string,
  file: string,
  client: ClientDescriptor | null,
  registry: Registry,
): Promise<{ candidates: Candidate[]; skipped: Skipped[] }> {
  const text = await explained('import', () => readText(file));
  if (text === null) throw new CommandError(`There is no file ${file}.`, { next: ['import --dry-run', 'clients'] });
  const entries = client === null ? await entriesOfFile(file, text) : await entriesOfClient(client, file, text);
  const own = new Set(client === null ? [] : (registry[client.id]?.entries ?? []));
  const candidates: Candidate[] = [];
  const skipped: Skipped[] = [];
  for (const [name, raw] of Object.entries(entries)) {
    if (own.has(name) || looksLikeOurs(raw)) continue;
    const read = readIncoming(name, raw, client?.fillsIn ?? usualFillsIn);
    if (isIncoming(read)) candidates.push({ ...read, from });
    else skipped.push({ from, name, why: read.why });
  }
  return { candidates, skipped };
}

async function entriesOfClient(client: ClientDescriptor, file: string, text: string): Promise<RawObject> {
  const read = (await loadFormat(client.format)).read(text, client.key);
  if (!read.ok)
    throw new CommandError(`${file}: ${read.problem.message}.`, { next: [`import ${client.id}`, 'clients'] });
  return read.entries;
}

/** A file of some hub, by its ending; the keys tell the rest. */
async function entriesOfFile(file: string, text: string): Promise<RawObject> {
  const refuse = (why: string): CommandError =>
    new CommandError(`${file}: ${asSentence(why)}`, { next: ['import --help', 'import --dry-run'] });
  const plain = await plainOf(file, text).catch((error: Error) => {
    throw refuse(error.message);
  });
  const entries = entriesIn(plain);
  if (entries === null) throw refuse('it holds no servers (mcpServers, servers…)');
  return entries;
}

async function plainOf(file: string, text: string): Promise<unknown> {
  if (/\.ya?ml$/i.test(file)) return (await import('yaml')).parse(text);
  if (/\.toml$/i.test(file)) {
    const { getStaticTOMLValue, parseTOML } = await import('toml-eslint-parser');
    return getStaticTOMLValue(parseTOML(text));
  }
  const { plainValue, readTree } = await import('../config/jsonc.ts');
  const tree = readTree(withoutMark(text));
  if (!tree.ok) throw new Error(tree.problem.message);
  return plainValue(tree.root);
}

async function existingEntries(file: string): Promise<ReadonlyMap<string, unknown>> {
  const text = await explained('import', () => readText(file));
  if (text === null || text.trim() === '') return new Map();
  const parsed = parseConfig(text);
  if (!parsed.ok) throw new CommandError(`${file}: ${asSentence(parsed.problem.message)}`, { next: ['config check'] });
  return parsed.raw;
}

/** The daemon's way when one runs, else the file itself. */
const added = ({ api, files }: Context, name: string, entry: RawObject): Promise<unknown> =>
  unlessNoDaemon<unknown>(
    api,
    () => api.addServer(name, entry),
    () => addToFile(files.configFile, name, entry),
  );

async function keepVariables(file: string, { variables }: ImportPlan): Promise<void> {
  const { values } = await readVariables(file).catch(() => ({ values: {} as Readonly<Record<string, string>> }));
  const missing = Object.fromEntries(Object.entries(variables).filter(([name]) => values[name] === undefined));
  await explained('import', () =>
    updateFile(file, (text) => {
      const before = text ?? '';
      return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${variableLines(missing)}`;
    }),
  );
}

/** Each client that something came from has our entries instead of its own. */
async function replacedBy(context: Context, items: readonly ImportItem[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const id of new Set(items.map(({ from }) => from))) {
    const client = clientCalled(id);
    if (client === undefined) continue;
    answers.push(
      await connected(context, client, {
        mode: undefined,
        name: undefined,
        permission: async (known) => known ?? 'ask',
        token: undefined,
        renew: false,
        replace: true,
        remove: items.filter(({ from }) => from === id).map(({ original }) => original),
        dryRun: false,
      }),
    );
  }
  return answers;
}

function previewText({ items, variables }: ImportPlan, skipped: readonly Skipped[]): string {
  const lines = [
    ...items.map(({ from, name, action, entry, notes, secrets, original }) => {
      const what = action === 'add' ? `+ ${name}` : `= ${name}`;
      const told = [
        action === 'same' ? `the same as ${original} of ${from}` : `from ${from}: ${wordsOf(entry)}`,
        ...notes,
        ...(action === 'add' && secrets.length > 0 ? [`holds secrets in ${secrets.join(', ')}`] : []),
      ];
      return `  ${what}  ${told.join('; ')}`;
    }),
    ...skipped.map(({ from, name, why }) =>
      name === null ? `  - ${from}: ${why}` : `  - ${name}  from ${from}: ${why}`,
    ),
    ...(Object.keys(variables).length === 0
      ? []
      : [`  variables in watchkeeper.env: ${Object.keys(variables).join(', ')}`]),
  ];
  return lines.length === 0 ? 'No servers were found.\n' : `${lines.map(harmless).join('\n')}\n`;
}

/** How a server is reached, without anything that may be secret. */
function wordsOf({ command, url }: RawObject): string {
  if (typeof url === 'string') {
    try {
      return new URL(url).origin;
    } catch {
      return 'an address';
    }
  }
  return typeof command === 'string' ? command : isObject(command) ? 'a command' : '';
}
