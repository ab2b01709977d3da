/**
 * What the official conformance scenarios expect a server to offer, under the names they ask for: one server for both
 * eras. Input is asked for by `input_required`; the SDK turns that into requests to the client in the legacy era.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';

/** One red pixel, and a tenth of nothing to hear. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';
const STEP_MS = 50;
const INVALID_PARAMS = -32602;

const text = (value) => ({ type: 'text', text: value });
const says = (value) => ({ content: [text(value)] });
const none = { type: 'object', properties: {} };
const withText = (...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
});

/** What changes while the server runs, shared by all connections. */
export function sharedState() {
  return { extraTools: 0, extraPrompts: 0, key: randomBytes(32), onChange: () => {} };
}

const sign = (key, payload) => createHmac('sha256', key).update(payload).digest('base64url');
const seal = (key, value) => {
  const payload = Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${payload}.${sign(key, payload)}`;
};

function unseal(key, state) {
  const [payload = '', mac = '', ...more] = String(state).split('.');
  const wanted = Buffer.from(sign(key, payload));
  const given = Buffer.from(mac);
  if (more.length > 0 || wanted.length !== given.length || !timingSafeEqual(wanted, given))
    throw new ProtocolError(INVALID_PARAMS, 'The request state has been tampered with.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}

const form = (message, requestedSchema) => inputRequired.elicit({ mode: 'form', message, requestedSchema });
const sample = (prompt, maxTokens) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(prompt) }], maxTokens });

/** The answers of a round; `null` where one is missing or is no object. */
function answers({ mcpReq }, ...names) {
  const given = mcpReq.inputResponses ?? {};
  const found = names.map((name) => given[name]);
  return found.every((one) => typeof one === 'object' && one !== null) ? found : null;
}

/** Asks for one thing and says what came back. */
const asking =
  (key, request, say) =>
  async ({ params, ctx, state }) => {
    const found = answers(ctx, key);
    if (found === null) return inputRequired({ inputRequests: { [key]: request(params.arguments ?? {}, state) } });
    return says(say(found[0]));
  };

const completed = ({ action, content }) =>
  `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
const sampled = ({ content }) => (Array.isArray(content) ? content[0]?.text : content?.text) ?? '';

const defaults = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const titled = (names) => names.map(([value, title]) => ({ const: value, title }));
const choices = [
  ['value1', 'First Option'],
  ['value2', 'Second Option'],
  ['value3', 'Third Option'],
];
const enums = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled(choices) },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled(choices) } },
  },
};

const name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const color = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] };
const ok = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

async function withLogging({ ctx }) {
  const steps = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];
  for (const [index, data] of steps.entries()) {
    if (index > 0) await pause(STEP_MS);
    await ctx.mcpReq.log('info', data);
  }
  return says('Logged three messages.');
}

async function withProgress({ ctx }) {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progress > 0) await pause(STEP_MS);
    if (progressToken !== undefined)
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
  }
  return says('Reported progress.');
}

async function multipleInputs({ ctx, state }) {
  const found = answers(ctx, 'user_name', 'greeting', 'client_roots');
  if (found !== null) {
    unseal(state.key, ctx.mcpReq.requestState());
    const [user, greeting, roots] = found;
    return says(`${sampled(greeting)}, ${user.content?.name}: ${roots.roots.length} roots`);
  }
  return inputRequired({
    inputRequests: {
      user_name: form('What is your name?', name),
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    },
    requestState: seal(state.key, 'multiple'),
  });
}

async function multiRound({ ctx, state }) {
  const given = ctx.mcpReq.requestState();
  const round = given === undefined ? { step: 1 } : unseal(state.key, given);
  const [answer] = answers(ctx, `step${round.step}`) ?? [];
  if (answer === undefined || given === undefined) {
    return inputRequired({
      inputRequests: { step1: form('Step 1: What is your name?', name) },
      requestState: seal(state.key, { step: 1 }),
    });
  }
  if (round.step === 2) return says(`${round.name} likes ${answer.content?.color}.`);
  return inputRequired({
    inputRequests: { step2: form('Step 2: What is your favorite color?', color) },
    requestState: seal(state.key, { step: 2, name: answer.content?.name }),
  });
}

/** Asks for a confirmation and looks at the state that comes back with it. */
const confirmed =
  (say) =>
  async ({ ctx, state }) => {
    const given = ctx.mcpReq.requestState();
    if (given !== undefined) {
      unseal(state.key, given);
      if (answers(ctx, 'confirm') !== null) return says(say);
    }
    return inputRequired({
      inputRequests: { confirm: form('Please confirm', ok) },
      requestState: seal(state.key, 'confirm'),
    });
  };

function declared({ ctx, server }) {
  const { envelope } = ctx.mcpReq;
  return envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? server.getClientCapabilities() ?? {};
}

async function byCapabilities(asked) {
  const { sampling, elicitation } = declared(asked);
  const found = Object.values(asked.ctx.mcpReq.inputResponses ?? {});
  if (found.length > 0) return says('Thank you.');
  const inputRequests = {
    ...(sampling ? { question: sample('What is the capital of France?', 100) } : {}),
    ...(elicitation ? { user_name: form('What is your name?', name) } : {}),
  };
  return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : says('Nothing can be asked.');
}

async function needsSampling(asked) {
  if (!declared(asked).sampling)
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  return says('The client can sample.');
}

async function reconnecting({ ctx }) {
  await pause(STEP_MS);
  ctx.http?.closeSSE?.();
  await pause(STEP_MS);
  return says('Reconnection test completed successfully.');
}

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const userName = asking(
  'user_name',
  () => form('What is your name?', name),
  ({ content }) => `Hello, ${content?.name}!`,
);

const tools = {
  test_simple_text: { run: async () => says('This is a simple text response for testing.') },
  test_image_content: { run: async () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }) },
  test_audio_content: { run: async () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    run: async () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    run: async () => ({
      content: [
        text('Multiple content types test:'),
        { type: 'image', data: PNG, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: JSON.stringify({ test: 'data', value: 123 }),
          },
        },
      ],
    }),
  },
  test_tool_with_logging: { run: withLogging },
  test_logging_tool: { run: withLogging },
  test_tool_with_progress: { run: withProgress },
  test_error_handling: {
    run: async () => ({ ...says('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_sampling: {
    inputSchema: withText('prompt'),
    run: asking(
      'answer',
      ({ prompt }) => sample(String(prompt), 100),
      (answer) => `LLM response: ${sampled(answer)}`,
    ),
  },
  test_elicitation: {
    inputSchema: withText('message'),
    run: asking(
      'answer',
      ({ message }) =>
        form(String(message), {
          type: 'object',
          properties: {
            username: { type: 'string', description: "User's response" },
            email: { type: 'string', description: "User's email address" },
          },
          required: ['username', 'email'],
        }),
      ({ action, content }) => `User response: action=${action}, content=${JSON.stringify(content ?? {})}`,
    ),
  },
  test_elicitation_sep1034_defaults: {
    run: asking('answer', () => form('Please review the values', defaults), completed),
  },
  test_elicitation_sep1330_enums: { run: asking('answer', () => form('Please choose', enums), completed) },
  test_streaming_elicitation: { run: userName },
  test_reconnection: { run: reconnecting },
  test_missing_capability: { run: needsSampling },
  test_trigger_tool_change: {
    async run({ state }) {
      state.extraTools += 1;
      state.onChange('tools');
      return says(`There are ${state.extraTools} more tools now.`);
    },
  },
  test_trigger_prompt_change: {
    async run({ state }) {
      state.extraPrompts += 1;
      state.onChange('prompts');
      return says(`There are ${state.extraPrompts} more prompts now.`);
    },
  },
  test_x_mcp_header: {
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      required: ['region'],
    },
    run: async ({ params }) => says(`Region: ${params.arguments?.region}`),
  },
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: SCHEMA_2020_12,
    run: async () => says('The schema was kept.'),
  },
  test_input_required_result_elicitation: { run: userName },
  test_input_required_result_sampling: {
    run: asking('capital_question', () => sample('What is the capital of France?', 100), sampled),
  },
  test_input_required_result_list_roots: {
    run: asking(
      'client_roots',
      () => inputRequired.listRoots(),
      ({ roots = [] }) => roots.map(({ uri }) => uri).join(', '),
    ),
  },
  test_input_required_result_request_state: { run: confirmed('state-ok') },
  test_input_required_result_tampered_state: { run: confirmed('The state was as it should be.') },
  test_input_required_result_multiple_inputs: { run: multipleInputs },
  test_input_required_result_multi_round: { run: multiRound },
  test_input_required_result_capabilities: { run: byCapabilities },
};

const user = (content) => ({ role: 'user', content });
const prompts = {
  test_simple_prompt: { get: () => [user(text('This is a simple prompt for testing.'))] },
  test_prompt_with_arguments: {
    arguments: [
      { name: 'arg1', required: true },
      { name: 'arg2', required: true },
    ],
    get: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    arguments: [{ name: 'resourceUri', required: true }],
    get: ({ resourceUri }) => [
      user({
        type: 'resource',
        resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      }),
      user(text('Please process the embedded resource above.')),
    ],
  },
  test_prompt_with_image: {
    get: () => [
      user({ type: 'image', data: PNG, mimeType: 'image/png' }),
      user(text('Please analyze the image above.')),
    ],
  },
  test_input_required_result_prompt: {},
};

const resources = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    description: 'A text',
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  },
  { uri: 'test://static-binary', name: 'static-binary', description: 'A pixel', mimeType: 'image/png', blob: PNG },
  {
    uri: 'test://watched-resource',
    name: 'watched-resource',
    description: 'A text that may change',
    mimeType: 'text/plain',
    text: 'Nothing happened yet.',
  },
];

function read(uri) {
  const found = resources.find((resource) => resource.uri === uri);
  if (found !== undefined) {
    const { mimeType, text: words, blob } = found;
    return { contents: [{ uri, mimeType, ...(blob === undefined ? { text: words } : { blob }) }] };
  }
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) throw new ResourceNotFoundError(uri);
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(data) }] };
}

const numbered = (prefix, count, more) =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}_${index + 1}`, ...more }));

/** A server for one connection or one request. */
export function fixtureServer(state) {
  const server = new Server(
    { name: 'fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      instructions: 'A server that offers what the conformance scenarios ask for.',
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [
      ...Object.entries(tools).map(([tool, { description, inputSchema = none }]) => ({
        name: tool,
        description: description ?? `Tool ${tool}`,
        inputSchema,
      })),
      ...numbered('extra_tool', state.extraTools, { description: 'Came later', inputSchema: none }),
    ],
  }));
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    const extra = /^extra_tool_(\d+)$/.exec(params.name)?.[1];
    if (Number(extra) <= state.extraTools) return says('Came later.');
    const tool = tools[params.name];
    if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name}`);
    return tool.run({ params, ctx, state, server });
  });
  server.setRequestHandler('prompts/list', () => ({
    prompts: [
      ...Object.entries(prompts).map(([prompt, { arguments: args }]) => ({
        name: prompt,
        description: `Prompt ${prompt}`,
        ...(args === undefined ? {} : { arguments: args }),
      })),
      ...numbered('extra_prompt', state.extraPrompts, { description: 'Came later' }),
    ],
  }));
  server.setRequestHandler('prompts/get', ({ params }, ctx) => {
    if (params.name === 'test_input_required_result_prompt') {
      const found = answers(ctx, 'user_context');
      if (found !== null) return { messages: [user(text(`Context: ${found[0].content?.context}`))] };
      const context = { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] };
      return inputRequired({
        inputRequests: { user_context: form('What context should the prompt use?', context) },
      });
    }
    const prompt = prompts[params.name];
    if (prompt === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${params.name}`);
    return { messages: prompt.get(params.arguments ?? {}) };
  });
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ text: _text, blob: _blob, ...rest }) => rest),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'Data by id',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler('resources/read', ({ params }) => read(params.uri));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', ({ params }) => {
    const values = ['paris', 'park', 'party'].filter((value) => value.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  return server;
}
