import type { ConfigFormatName } from '../descriptor.ts';
import type { ConfigFormat } from './format.ts';

/** The editor of a format; its parser is loaded only when it is needed. */
export async function loadFormat(name: ConfigFormatName): Promise<ConfigFormat> {
  if (name === 'toml') return (await import('./toml.ts')).tomlFormat;
  if (name === 'yaml') return (await import('./yaml.ts')).yamlFormat;
  return (await import('./json.ts')).jsonFormat;
}
