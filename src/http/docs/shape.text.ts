import type { Schema } from './described.ts';

/** A JSON schema as a person would write the shape down: one member a line, `?` for what may be missing. */
export function shapeText(schema: Schema, indent = ''): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => shapeText(one, indent)))].join(' | ');
  if (schema.items) return `[${shapeText(schema.items, indent)}]`;
  if (schema.properties && Object.keys(schema.properties).length > 0) return objectText(schema, indent);
  if (typeof schema.additionalProperties === 'object' && Object.keys(schema.additionalProperties).length > 0)
    return `{[name]: ${shapeText(schema.additionalProperties, indent)}}`;
  if (schema.format === 'date-time') return 'time';
  const types = [schema.type ?? 'any'].flat();
  return types.map((type) => (type === 'object' ? '{…}' : type)).join(' | ');
}

function objectText({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, member]) => {
    const note = member.description === undefined ? '' : `  // ${member.description}`;
    return `${inner}${name}${required.includes(name) ? '' : '?'}: ${shapeText(member, inner)}${note}`;
  });
  const open = typeof additionalProperties === 'object' ? [`${inner}…`] : [];
  return `{\n${[...lines, ...open].join('\n')}\n${indent}}`;
}
