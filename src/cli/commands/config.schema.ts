import type { Command } from '../command.ts';

export const configSchema: Command = {
  description: {
    name: 'config schema',
    group: 'Files',
    summary: 'print the JSON schema of watchkeeper.json, the settings',
    examples: [{ line: 'config schema > watchkeeper.schema.json', about: 'for an editor that completes and checks' }],
  },
  async run() {
    const { settingsJsonSchema } = await import('../../config/settings.schema.ts');
    const schema = settingsJsonSchema();
    return { kind: 'answer', json: schema, text: () => `${JSON.stringify(schema, null, 2)}\n` };
  },
};
