#!/usr/bin/env node
/**
 * A small MCP server that cannot be relied on: it dies about every 20 seconds, and now and then a tool comes or goes.
 * It says so on stderr. `--calm`: it stays.
 */
import { createInterface } from 'node:readline';

const calm = process.argv.includes('--calm');
const second = 1000;

const tools = {
  tell_time: {
    description: 'Tells the time in UTC.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
    run: () => new Date().toISOString(),
  },
  crash: {
    description: 'Ends this server in the middle of the call.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: false, destructiveHint: true },
    run: () => die('someone called crash'),
  },
};

const guest = {
  description: 'Is not always here.',
  inputSchema: { type: 'object', properties: {} },
  run: () => 'You caught me.',
};

function say(text) {
  process.stderr.write(`flaky: ${text}\n`);
}

function die(reason) {
  say(`${reason}; I am leaving`);
  process.exit(3);
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function changeMyMind() {
  if ('now_and_then' in tools) delete tools.now_and_then;
  else tools.now_and_then = guest;
  say(`now_and_then is ${'now_and_then' in tools ? 'here' : 'gone'}`);
  send({ method: 'notifications/tools/list_changed' });
}

function call({ name, arguments: args }) {
  if (!Object.hasOwn(tools, name)) throw Object.assign(new Error(`Unknown tool: ${name}`), { code: -32602 });
  return { content: [{ type: 'text', text: tools[name].run(args) }] };
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'flaky', version: '1.0.0' },
    instructions: 'Tells the time when it is alive. Calls may fail; ask again.',
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, { run, ...definition }]) => ({ name, ...definition })),
  }),
  'tools/call': call,
};

function answer({ id, method, params = {} }) {
  if (id === undefined || method === undefined) return;
  try {
    if (!Object.hasOwn(methods, method)) throw Object.assign(new Error('Method not found'), { code: -32601 });
    send({ id, result: methods[method](params) });
  } catch ({ code = -32603, message }) {
    send({ id, error: { code, message } });
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => answer(JSON.parse(line)))
  .on('close', () => process.exit(0));

if (!calm) {
  setTimeout(() => die('I have lived long enough'), (15 + 10 * Math.random()) * second);
  setTimeout(changeMyMind, (3 + 10 * Math.random()) * second);
}
