import { describe, expect, it } from 'vitest';
import { type BuiltinParts, builtinTools } from '../../src/builtin/tools.ts';
import { Problem } from '../../src/http/problem.ts';
import { fakeKeeper, time } from '../http/fake.keeper.ts';

const now = Date.parse(time) + 60_000;

/** Two servers, of which `guest` sees one. */
function tools(more: Partial<BuiltinParts> = {}) {
  const keeper = fakeKeeper();
  const row = JSON.parse(keeper.statusText()).servers[0];
  const both = JSON.stringify({ servers: [row, { ...row, name: 'private' }] });
  const parts: BuiltinParts = {
    keeper: { ...keeper, statusText: () => both },
    servers: () => ['memory', 'private'],
    serverOfTool: (name) => (name === 'odd_name' ? 'memory' : undefined),
    sees: (client, server) => client !== 'guest' || server === 'memory',
    now: () => now,
    ...more,
  };
  const all = builtinTools(parts);
  const ask = async (name: string, args: Record<string, unknown> = {}, client = 'main') => {
    const result = (await all.find(({ definition }) => definition.name === name)?.run(args, client)) as any;
    return { text: String(result.content[0].text), error: result.isError === true, body: result.structuredContent };
  };
  return { all, ask, parts };
}

describe('The tools of the built-in server', () => {
  it('are five, sorted, and say that they only read', () => {
    const { all } = tools();
    expect(all.map(({ definition }) => definition.name)).toEqual([
      'catalog_changes',
      'doctor',
      'history',
      'status',
      'why',
    ]);
    for (const { definition } of all) {
      const { inputSchema, annotations, description } = definition as any;
      expect(annotations.readOnlyHint).toBe(true);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const parameter of Object.values<any>(inputSchema.properties)) expect(parameter.description).not.toBe('');
      expect(description.length).toBeGreaterThan(80);
    }
  });

  it.each<[tool: string, args: Record<string, unknown>, said: RegExp]>([
    [
      'status',
      { server: 'memroy' },
      /^There is no server "memroy"\. Did you mean "memory"\? Servers: memory, private\.$/,
    ],
    ['status', { at: 'x' }, /^There is no argument `at`\. Known: server\.$/],
    ['status', { server: 7 }, /^`server` must be text\.$/],
    ['why', {}, /^`server` is missing\. The tool `status` lists the servers\.$/],
    ['why', { server: 'memory', at: 'soon' }, /^`at` must be an ISO 8601 time, or a span back from now/],
    ['history', { server: 'memory', limit: 0 }, /^`limit` must be from 1 to 500\.$/],
    ['history', { server: 'memory', limit: 1.5 }, /^`limit` must be a whole number\.$/],
    ['history', { server: 'memory', from: '12' }, /^`from` must be/],
  ])('%s of %j is answered in words that can be acted on', async (tool, args, said) => {
    const { text, error } = await tools().ask(tool, args);
    expect(text).toMatch(said);
    expect(error).toBe(true);
  });

  it.each(['memory', 'mcp__memory__read_graph', 'memory__gone', 'odd_name'])(
    'know the server that is meant by %s',
    async (server) => {
      const { body } = await tools().ask('status', { server });
      expect(body.servers.map(({ name }: any) => name)).toEqual(['memory']);
    },
  );

  it('answer in the shape of HTTP beside the words', async () => {
    const { parts, ask } = tools();
    const { body, text } = await ask('status');
    expect(body).toEqual(JSON.parse(parts.keeper.statusText()));
    expect(text).toBe('2 of 2 servers ready.\n- memory: ready for 1 m; 1 tool\n- private: ready for 1 m; 1 tool');
    expect((await ask('why', { server: 'memory' })).body).toEqual(parts.keeper.why({ name: 'memory', at: undefined }));
    expect((await ask('doctor')).body).toEqual(await parts.keeper.doctor(undefined));
  });

  it.each<[text: string, time: number]>([
    ['30m', now - 1_800_000],
    ['2 h', now - 7_200_000],
    ['1.5d', now - 129_600_000],
    ['2026-03-01T11:00', Date.parse('2026-03-01T11:00:00Z')],
  ])('take %s for a moment', async (text, moment) => {
    let asked: unknown;
    const { parts } = tools();
    const why: typeof parts.keeper.why = (query) => {
      asked = query.at;
      return parts.keeper.why(query);
    };
    const keeper = { ...parts.keeper, why };
    await tools({ keeper }).ask('why', { server: 'memory', at: text });
    expect(asked).toEqual({ time: moment });
  });

  it('leave older intervals out, and say how to see them', async () => {
    const interval = (minute: number) => ({
      server: 'memory',
      state: 'ready' as const,
      from: new Date(now - minute * 60_000).toISOString(),
      to: minute === 1 ? null : new Date(now - (minute - 1) * 60_000).toISOString(),
      cause: 'ToolsListed',
      position: 1,
    });
    const { parts } = tools();
    const keeper = { ...parts.keeper, history: () => ({ intervals: [3, 2, 1].map(interval) }) };
    const { text, body } = await tools({ keeper }).ask('history', { server: 'memory', limit: 2 });
    expect(body.intervals).toHaveLength(2);
    expect(text.split('\n')).toEqual([
      'memory, newest first:',
      `- ${interval(1).from} ready for 1 m until now (ToolsListed)`,
      `- ${interval(2).from} ready for 1 m (ToolsListed)`,
      `(1 older one is left out; ask with \`to\` set to ${interval(2).from} to see more)`,
    ]);
  });

  it('turn a refusal of the daemon into words', async () => {
    const { parts } = tools();
    const keeper = {
      ...parts.keeper,
      why: () => {
        throw new Problem('invalid-request', '`at` lies in the future.');
      },
    };
    const { text, error } = await tools({ keeper }).ask('why', { server: 'memory', at: '2030-01-01' });
    expect([text, error]).toEqual(['`at` lies in the future.', true]);
  });
});

describe('A client that does not see every server', () => {
  it('finds no other one in any answer', async () => {
    const { parts } = tools();
    const tool = { server: 'memory', tool: 'get', name: 'mcp__memory__get' };
    const place = { position: 1, at: time };
    const change = { ...tool, ...place, change: 'added' as const, parts: [], before: null, after: null, grant: null };
    const row = { ...tool, firstSeen: place, lastChanged: place, removed: null };
    const both = <Row extends { server: string }>(one: Row): Row[] => [one, { ...one, server: 'private' }];
    const keeper: BuiltinParts['keeper'] = {
      ...parts.keeper,
      toolsHistory: () => ({ changes: both(change), difference: both(change), tools: both(row) }),
      why: (query) => ({
        ...parts.keeper.why(query),
        changes: [{ kind: 'others', ...place, text: '1 other server failed within 10 s of it: private.' }],
      }),
      doctor: async (name) => {
        const found = await parts.keeper.doctor(name);
        return name === undefined ? { ...found, servers: both({ ...found.servers[0], server: '' } as any) } : found;
      },
    };
    const { ask } = tools({ keeper });
    const asked: readonly (readonly [string, Record<string, unknown>])[] = [
      ['status', {}],
      ['status', { server: 'secretive' }],
      ['why', { server: 'memory' }],
      ['why', { server: 'nobody' }],
      ['history', { server: 'nobody' }],
      ['doctor', {}],
      ['catalog_changes', {}],
    ];
    for (const [name, args] of asked) {
      expect(JSON.stringify(await ask(name, args, 'guest'))).not.toContain('private');
      // Whoever sees all of them is told.
      if (name === 'status' || name === 'why' || name === 'catalog_changes')
        expect(JSON.stringify(await ask(name, args))).toContain('private');
    }
  });

  it.each(['status', 'why', 'history', 'doctor', 'catalog_changes'])(
    'is told by %s of one it does not see what it is told of one that is not there',
    async (name) => {
      const { ask } = tools();
      const [hidden, absent] = [
        await ask(name, { server: 'private' }, 'guest'),
        await ask(name, { server: 'absents' }, 'guest'),
      ];
      expect(hidden.error).toBe(true);
      expect(hidden.text).toBe(absent.text.replace('absents', 'private'));
      expect(hidden.text).toBe('There is no server "private". Servers: memory.');
    },
  );
});
