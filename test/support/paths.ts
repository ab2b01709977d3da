/** Where the programs that tests start are. */
import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const projectRoot = at('.');
export const cliMain = at('dist/cli/main.js');

export const stdioServer = at('test/fixtures/stdio-server.mjs');
export const deepServer = at('test/fixtures/deep-server.mjs');
export const httpServer = at('test/fixtures/http-server.mjs');
export const launcher = at('test/fixtures/launcher.mjs');
export const blockingStderr = at('test/fixtures/blocking-stderr.py');
export const onATerminal = at('test/fixtures/on-a-terminal.py');

export const interop = {
  sdk1Stdio: at('test/interop/sdk1-stdio.mjs'),
  sdk1Http: at('test/interop/sdk1-http.mjs'),
  sdk2Stdio: at('test/interop/sdk2-stdio.mjs'),
  sdk2Http: at('test/interop/sdk2-http.mjs'),
};

/** Servers from npm, each a script for `node`. */
export const npmServers = {
  everything: at('node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
  memory: at('node_modules/@modelcontextprotocol/server-memory/dist/index.js'),
  filesystem: at('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'),
  postgres: at('node_modules/@modelcontextprotocol/server-postgres/dist/index.js'),
  github: at('node_modules/@modelcontextprotocol/server-github/dist/index.js'),
  playwright: at('node_modules/@playwright/mcp/cli.js'),
};

/** Servers from PyPI, put there by scripts/setup-tests.mjs; see needs.ts. `time` speaks the modern era, `sqlite` the legacy one. */
export const pythonServers = {
  time: at('.cache/venv/bin/mcp-server-time'),
  sqlite: at('.cache/venv/bin/mcp-server-sqlite'),
};

export const setupReport = at('.cache/setup.json');
export const buildReport = at('.cache/build.json');
