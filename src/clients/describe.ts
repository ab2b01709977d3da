/** The tables of `docs/clients.md`, made from the descriptors. Pure. */
import type { ClientDescriptor, IdentifierRule } from './descriptor.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |\n`;

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(titles), row(titles.map(() => '---')), ...rows.map(row)].join('');
}

const code = (text: string): string => `\`${text}\``;

/** How the model sees a tool, in a person's words. */
function seenAs({ before, between, server, effect }: IdentifierRule): string {
  if (effect === 'unknown' && before === '' && between === '') return 'not known';
  return code(server === 'none' ? `${before}<tool>` : `${before}<entry>${between}<tool>`);
}

const effects = {
  drop: 'the tool is missing, without a word',
  reject: 'the model API refuses, the session fails',
  rewrite: 'the client gives it another name',
  none: 'nothing',
  unknown: 'not known',
} as const;

function limitOf({ limit, counts }: IdentifierRule): string {
  if (limit === null) return 'none known';
  return counts === 'names' ? `${limit} for entry and tool together` : String(limit);
}

const fileOf = ({ places, movedBy }: ClientDescriptor): string =>
  [
    ...new Set([places.linux.file, places.darwin.file, places.win32.file].map((file) => code(file))),
    ...movedBy.map(({ variable }) => code(`$${variable}`)),
  ].join(', ');

/** Everything between the markers of the page. */
export function describeClients(clients: readonly ClientDescriptor[]): string {
  const files = table(
    ['Client', 'Word', 'File', 'Form, key', 'Kinds', 'Token'],
    clients.map((client) => [
      client.name,
      code(client.id),
      fileOf(client),
      `${client.format.toUpperCase()}, ${code(client.key)}`,
      client.http === null ? 'command' : 'address, command',
      client.http === null ? 'none' : client.http.byReference === null ? 'in the file' : 'in a variable',
    ]),
  );
  const names = table(
    ['Client', 'The model sees', 'Longest', 'Longer', 'Most tools', 'Asks itself'],
    clients.map(({ name, identifier, toolsCap, confirms, flat }) => [
      name,
      `${seenAs(identifier)}${flat === null ? '' : ` in ${flat.where}`}`,
      limitOf(identifier),
      effects[identifier.effect],
      toolsCap === null ? 'not known' : String(toolsCap),
      confirms ? 'yes' : 'no',
    ]),
  );
  const sources = table(
    ['Client', 'Fact', 'Found in', 'As of'],
    clients.flatMap(({ name, sources: list }) => list.map(({ about, found, date }) => [name, about, found, date])),
  );
  return `### Files\n\n${files}\n### Names of tools\n\n${names}\n### Where this is from\n\n${sources}`;
}
