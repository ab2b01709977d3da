/** What the allowlist's head remembers, and how each fact changes it. The only place where it changes. */
import type { AllowlistFact, Binding } from '../../events/allowlist.events.ts';
import { parseEntry } from './entry.ts';

/**
 * What one entry grants. `unbound`: nobody has seen the tool (or server) yet, and it grants nothing. `bound`: it grants
 * exactly what `binding` says. `suspended`: what it was bound to (`binding`) changed, and it grants nothing until renewed.
 */
export interface Grant {
  readonly entry: string;
  readonly server: string;
  /** The registered name, or `*` for a whole server. */
  readonly tool: string;
  readonly state: 'unbound' | 'bound' | 'suspended';
  readonly binding: Binding | null;
}

/** Plain data: it is stored in `heads` and compared with a rebuild. */
export interface AllowlistContext {
  /** By entry. */
  readonly grants: Readonly<Record<string, Grant>>;
}

export const blankAllowlist: AllowlistContext = { grants: {} };

export function evolveAllowlist(context: AllowlistContext, fact: AllowlistFact): AllowlistContext {
  const { entry } = fact.data;
  const grant = context.grants[entry];
  switch (fact.type) {
    case 'GrantAdded': {
      const parsed = parseEntry(entry);
      return parsed ? put(context, { entry, ...parsed, state: 'unbound', binding: null }) : context;
    }
    case 'GrantRemoved': {
      const { [entry]: _removed, ...grants } = context.grants;
      return { ...context, grants };
    }
    case 'GrantBound':
      return grant ? put(context, { ...grant, state: 'bound', binding: fact.data.binding }) : context;
    case 'GrantSuspended':
      return grant ? put(context, { ...grant, state: 'suspended', binding: fact.data.before }) : context;
  }
}

/** All grants, sorted by entry. */
export function grantsOf(context: AllowlistContext): readonly Grant[] {
  return Object.keys(context.grants)
    .sort()
    .map((entry) => context.grants[entry])
    .filter((grant) => grant !== undefined);
}

function put(context: AllowlistContext, grant: Grant): AllowlistContext {
  return { ...context, grants: { ...context.grants, [grant.entry]: grant } };
}
