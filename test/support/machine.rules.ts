/** The rules that make the table of a machine a true picture of it, held over its config. */
import { expect } from 'vitest';
import type { AnyStateMachine } from 'xstate';

interface NodeConfig {
  readonly on?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly invoke?: Readonly<Record<string, unknown>>;
  readonly states?: Readonly<Record<string, NodeConfig>>;
}

const FORBIDDEN = ['guard', 'cond', 'always', 'onDone', 'onError', 'entry', 'exit', 'spawn', 'type', 'history'];

/** Fails where a machine file breaks a rule; says which state and what. */
export function expectRulesOfMachineFiles(
  machine: AnyStateMachine,
  names: { readonly effects: readonly string[]; readonly delays: readonly string[] },
): void {
  const found: string[] = [];
  walk('', machine.config as NodeConfig, (at, node) => {
    for (const [key, value] of Object.entries(node)) {
      if (FORBIDDEN.includes(key)) found.push(`${at}: ${key}`);
      if (key === 'on' || key === 'after' || key === 'invoke') found.push(...forbiddenIn(`${at}: ${key}`, value));
    }
    for (const [type, arrow] of Object.entries(node.on ?? {})) {
      const { target, actions, ...more } = arrow as { target?: unknown; actions?: unknown };
      if (Array.isArray(arrow) || actions !== 'record' || Object.keys(more).length > 0) found.push(`${at}: on ${type}`);
      if (target !== undefined && typeof target !== 'string') found.push(`${at}: on ${type} leads to several states`);
    }
    for (const [delay, due] of Object.entries(node.after ?? {})) {
      const { actions, ...more } = due as { actions?: { type?: string } };
      if (!names.delays.includes(delay)) found.push(`${at}: after ${delay}, which is not named in setup`);
      if (actions?.type !== 'issue' || Object.keys(more).length > 0) found.push(`${at}: after ${delay} does more`);
    }
    if (node.invoke && !names.effects.includes(String(node.invoke.src))) found.push(`${at}: an effect without a name`);
  });
  expect(found).toEqual([]);
}

function walk(at: string, node: NodeConfig, visit: (at: string, node: NodeConfig) => void): void {
  visit(at === '' ? '(root)' : at, node);
  for (const [name, child] of Object.entries(node.states ?? {})) walk(at === '' ? name : `${at}.${name}`, child, visit);
}

function forbiddenIn(at: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(['guard', 'cond', 'onDone', 'onError', 'onSnapshot'].includes(key) ? [`${at}: ${key}`] : []),
    ...forbiddenIn(at, inner),
  ]);
}
