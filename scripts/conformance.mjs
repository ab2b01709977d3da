#!/usr/bin/env node
/**
 * The official conformance suite against the hub, on both sides: as a server, with our fixture server behind it, asked
 * through `/mcp/<server>`; as a client, with the suite's servers behind it. Prints `N of N` a run; exit code 1 if any falls
 * short. `--suite <folder>`: where the suite is installed if not here. `--upstream <name>`: one run alone (`client`, or as
 * printed). `--only <scenario>`: that server scenario alone, with its details.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cli = join(root, 'dist/cli/main.js');
const fixture = join(root, 'test/conformance/fixture-server.mjs');
const hook = join(root, 'test/conformance/old-node.mjs');
const option = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const suite = join(option('suite') ?? root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** How many scenarios each revision requires of a server. */
const REQUIRED = { '2025-11-25': 30, '2026-07-28': 37 };
/**
 * Server behind the hub: how it is reached, which clients it serves, and the revisions it is asked in. A legacy server
 * cannot do all of the newer revision (it knows the capabilities of the hub alone), so it is asked in its own.
 */
const UPSTREAMS = [
  { transport: 'http', era: 'dual', revisions: ['2025-11-25', '2026-07-28'] },
  { transport: 'stdio', era: 'dual', revisions: ['2025-11-25', '2026-07-28'] },
  { transport: 'http', era: 'legacy', revisions: ['2025-11-25'] },
  { transport: 'stdio', era: 'legacy', revisions: ['2025-11-25'] },
];

/** Client scenarios that are not about logins. */
const CLIENT = {
  '2025-11-25': [
    'initialize',
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'sse-retry',
    'json-schema-2020-12-preservation',
  ],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
};

/** Client scenarios about logins, by revision: those of both, and what the newer one adds. */
const OAUTH = [
  ...['metadata-default', 'metadata-var1', 'metadata-var2', 'metadata-var3', 'basic-cimd', 'pre-registration'],
  ...['scope-from-www-authenticate', 'scope-from-scopes-supported', 'scope-omitted-when-undefined'],
  ...['scope-step-up', 'scope-retry-limit'],
  ...['token-endpoint-auth-basic', 'token-endpoint-auth-post', 'token-endpoint-auth-none'],
];
const NEWER_OAUTH = [
  ...['resource-mismatch', 'offline-access-scope', 'offline-access-not-supported', 'authorization-server-migration'],
  ...['iss-supported', 'iss-not-advertised', 'iss-supported-missing', 'iss-wrong-issuer', 'iss-unexpected'],
  ...['iss-normalized', 'metadata-issuer-mismatch'],
];
const LOGINS = {
  '2025-11-25': OAUTH.map((name) => `auth/${name}`),
  '2026-07-28': [...OAUTH, ...NEWER_OAUTH].map((name) => `auth/${name}`),
};

const firstLine = (child) =>
  new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}`)));
  });

const ended = (child) =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', resolve);
  });

async function stop(child) {
  child.kill('SIGTERM');
  await ended(child);
}

/** The suite knows no tokens: they are put in on the way. Host and Origin stay as they are. */
function tokenAdder(token, target) {
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const on = forward(
      { host: '127.0.0.1', port: target(), method, path, headers: { ...headers, authorization: `Bearer ${token()}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.pipe(outgoing);
      },
    );
    on.on('error', () => outgoing.destroy());
    outgoing.on('close', () => on.destroy());
    incoming.pipe(on);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function entryFor({ transport, era }, children) {
  if (transport === 'stdio') return { command: process.execPath, args: [fixture, '--stdio', '--era', era] };
  const server = spawn(process.execPath, [fixture, '--era', era], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(server);
  return { url: await firstLine(server) };
}

async function withHub(upstream, run) {
  const home = mkdtempSync(join(tmpdir(), 'wk-conformance-'));
  const children = [];
  let daemon = { token: '', port: 0 };
  const proxy = await tokenAdder(
    () => daemon.token,
    () => daemon.port,
  );
  const { port } = proxy.address();
  try {
    const entry = await entryFor(upstream, children);
    writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { fixture: entry } }));
    writeFileSync(join(home, 'allow_tool'), 'mcp__fixture__*\n');
    writeFileSync(
      join(home, 'watchkeeper.json'),
      JSON.stringify({ http: { allowedHosts: [`localhost:${port}`, `127.0.0.1:${port}`] } }),
    );
    const env = { PATH: process.env.PATH, HOME: home };
    const child = spawn(
      process.execPath,
      [cli, 'up', '--json', '--quiet', '--port', '0', '--config', join(home, 'mcp.json'), '--data', join(home, 'data')],
      { env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    children.push(child);
    const ready = JSON.parse(await firstLine(child));
    daemon = { token: readFileSync(join(home, 'data/token'), 'utf8').trim(), port: ready.port };
    await listed(ready.url, daemon.token);
    return await run(`http://localhost:${port}/mcp/fixture`);
  } finally {
    for (const child of children.reverse()) await stop(child);
    proxy.close();
    proxy.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  }
}

async function listed(url, token) {
  for (let left = 200; left > 0; left -= 1) {
    const answer = await fetch(`${url}/v1/mcp/status`, { headers: { authorization: `Bearer ${token}` } });
    const { servers } = await answer.json();
    if (servers[0]?.state === 'ready') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('The fixture server did not become ready.');
}

/** Runs the suite and resolves with its output. */
function runSuite(args) {
  const child = spawn(process.execPath, ['--import', hook, suite, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

/** Required scenarios without a failed check. Those that do not count are listed once more at the end, by their kind. */
function passedIn(output) {
  const unscored = new Set([...output.matchAll(/^\s+[✓✗] (\S+) \(/gmu)].map(([, name]) => name));
  const passed = [...output.matchAll(/^✓ (\S+): \d+ passed/gmu)].map(([, name]) => name);
  return passed.filter((name) => !unscored.has(name)).length;
}

async function main() {
  if (!existsSync(suite)) throw new Error(`The conformance suite is not installed (${suite}).`);
  const only = option('only');
  // `npm run conformance -- oauth` asks for one part by its name.
  const which = option('upstream') ?? process.argv.slice(2).find((word) => word === 'oauth' || word === 'client');
  let short = false;
  for (const upstream of UPSTREAMS) {
    const label = `${upstream.transport} ${upstream.era}`;
    if (which !== undefined && which !== label) continue;
    await withHub(upstream, async (url) => {
      for (const revision of option('revision') === undefined ? upstream.revisions : [option('revision')]) {
        const required = REQUIRED[revision];
        if (only !== undefined) {
          const { output } = await runSuite([
            'server',
            '--url',
            url,
            '--scenario',
            only,
            '--spec-version',
            revision,
            '--verbose',
          ]);
          console.log(`${label} server, revision ${revision}\n${output}`);
          continue;
        }
        const { code, output } = await runSuite(['server', '--url', url, '--requirements', revision]);
        const passed = passedIn(output);
        console.log(`${label} server, revision ${revision}: ${passed} of ${required}`);
        if (process.argv.includes('--verbose') || code !== 0 || passed < required) console.log(output);
        short ||= code !== 0 || passed < required;
      }
    });
  }
  for (const [part, label, scenarios] of [
    ['client', 'client', CLIENT],
    ['oauth', 'login', LOGINS],
  ]) {
    if (which !== undefined && which !== part) continue;
    if (only === undefined || part === which) short = (await clientFallsShort(label, scenarios, only)) || short;
  }
  process.exitCode = short ? 1 : 0;
}

/** One scenario after the other: each starts a daemon of its own. */
async function clientFallsShort(label, all, only) {
  let short = false;
  for (const [revision, known] of Object.entries(all)) {
    if (option('revision') !== undefined && option('revision') !== revision) continue;
    const scenarios = known.filter((scenario) => only === undefined || scenario === only);
    let passed = 0;
    for (const scenario of scenarios) {
      const command = `${process.execPath} ${join(root, 'test/conformance/client-driver.mjs')}`;
      const { code, output } = await runSuite([
        'client',
        ...['--command', command, '--scenario', scenario, '--spec-version', revision],
      ]);
      if (code === 0) passed += 1;
      if (code !== 0 || only !== undefined) console.log(output);
    }
    console.log(`${label} scenarios, revision ${revision}: ${passed} of ${scenarios.length}`);
    short ||= passed < scenarios.length;
  }
  return short;
}

await main();
