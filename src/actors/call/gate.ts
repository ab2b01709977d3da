/**
 * The gate every call goes through, whatever door it came by and whatever the server says about the tool
 * (contract: confirmation). Pure, and closed wherever something is not as expected.
 */
import type { PermissionMode } from '../../events/call.events.ts';
import type { Grant } from '../allowlist/allowlist.state.ts';
import { type Refusal, refuse } from '../refusal.ts';

export interface GateQuestion {
  /** What the request may do: the outcome of `effectiveMode`. */
  readonly mode: PermissionMode;
  /** The registered name. */
  readonly name: string;
  readonly server: string;
  /** Of the server now: hash of command and args, or of the URL. */
  readonly identity: string;
  /** Hash of the tool's definition now. */
  readonly definition: string;
  readonly grants: Iterable<Grant>;
}

/** What is asked about a call; written out, since this is on the way of every call (ADR 27). */
export const questionOf = (
  { mode, name, server, identity, definition }: Omit<GateQuestion, 'grants'>,
  grants: Iterable<Grant>,
): GateQuestion => ({ mode, name, server, identity, definition, grants });

export type Verdict =
  | { readonly kind: 'run'; readonly because: 'granted' | 'allow-all' }
  /** A person decides; `unusual` is worth a look before that. */
  | { readonly kind: 'hold'; readonly unusual: readonly string[] }
  | { readonly kind: 'refuse'; readonly reason: string };

export function askGate(question: GateQuestion): Verdict {
  const { mode, name, server, identity, definition } = question;
  if (!isText(name) || !isText(server) || !isText(identity) || !isText(definition)) {
    return {
      kind: 'refuse',
      reason: `"${name}" is not known well enough to decide about; reconnect server "${server}".`,
    };
  }
  if (!MODES.includes(mode)) return { kind: 'refuse', reason: unknownMode(mode) };

  for (const grant of question.grants) if (covers(grant, question)) return GRANTED;
  switch (mode) {
    case 'allow-all':
      return ALLOWED;
    case 'ask':
      return { kind: 'hold', unusual: [...question.grants].flatMap((grant) => unusual(grant, question)) };
    case 'deny':
      return {
        kind: 'refuse',
        reason: `No grant covers "${name}", and mode "deny" runs nothing else. Grant it (watchkeeper allow ${server}) or ask with mode "ask".`,
      };
  }
}

const GRANTED: Verdict = { kind: 'run', because: 'granted' };
const ALLOWED: Verdict = { kind: 'run', because: 'allow-all' };

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Servers are compared by name and never by prefix: `a` says nothing about `ab`. */
function concerns(grant: Grant, { server, name }: GateQuestion): boolean {
  return grant.server === server && (grant.tool === '*' || grant.tool === name);
}

function covers(grant: Grant, question: GateQuestion): boolean {
  const { state, binding, tool } = grant;
  return (
    concerns(grant, question) &&
    state === 'bound' &&
    binding !== null &&
    binding.identity === question.identity &&
    binding.definition === (tool === '*' ? null : question.definition)
  );
}

function unusual(grant: Grant, question: GateQuestion): string[] {
  if (!concerns(grant, question)) return [];
  const { entry, state, binding } = grant;
  if (state === 'unbound') return [`${entry} is allowed, but was never tied to this server and tool.`];
  const what = binding?.identity === question.identity ? 'the tool' : 'the server';
  return [`${entry} was allowed, but ${what} changed since.`];
}

export interface ModeLimits {
  /** Used when the request names no mode. */
  readonly defaultMode: PermissionMode;
  readonly ceiling: PermissionMode;
}

/**
 * The mode a request runs in: what it asks for, else the caller's default, never above the caller's ceiling
 * (`deny` < `ask` < `allow-all`). Refusals: `permission-mode-unknown`, `permission-mode-above-ceiling`.
 */
export function effectiveMode(
  requested: string | undefined,
  { defaultMode, ceiling }: ModeLimits,
): { readonly mode: PermissionMode } | Refusal {
  const top = rank(ceiling);
  if (requested === undefined) return { mode: MODES[Math.min(rank(defaultMode), top)] ?? 'deny' };
  const mode = MODES.find((known) => known === requested);
  if (!mode) return refuse('permission-mode-unknown', unknownMode(requested));
  if (rank(mode) <= top) return { mode };
  return refuse(
    'permission-mode-above-ceiling',
    `Mode "${mode}" is above "${ceiling}", the highest this token may use; send "${ceiling}" or a lower one.`,
  );
}

const MODES: readonly PermissionMode[] = ['deny', 'ask', 'allow-all'];

/** What is not known counts as the lowest. */
const rank = (mode: PermissionMode): number => Math.max(0, MODES.indexOf(mode));

const unknownMode = (mode: string): string => `Permission mode "${mode}" is not known; use deny, ask or allow-all.`;
