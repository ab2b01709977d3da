#!/usr/bin/env node
/**
 * Bundles the command into `dist`: chunks, of which most are loaded later, and the file that starts them. `--force` builds although
 * nothing changed; `--keep` leaves chunks of earlier builds, which a daemon that still runs may want to load.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeCodeCache } from './code-cache.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const report = join(root, '.cache/build.json');
/** What is started. */
const command = 'cli/main.js';
const codeCache = 'code.cache';

/** Native code cannot be bundled; it is found in node_modules at run time. */
const external = ['better-sqlite3', '@napi-rs/keyring'];

/**
 * What need not be parsed at every start: rxjs as modules, so that only what is used of it comes along; nothing in the
 * place of parts of Fastify that are never called (shapes are checked by zod; requests come over a socket), and of the
 * SDK's own validator of results (they are passed on as they come).
 */
const alias = {
  rxjs: join(root, 'node_modules/rxjs/dist/esm/index.js'),
  '@fastify/ajv-compiler': join(root, 'scripts/bundle/not-bundled.cjs'),
  '@fastify/fast-json-stringify-compiler': join(root, 'scripts/bundle/not-bundled.cjs'),
  'light-my-request': join(root, 'scripts/bundle/not-bundled.cjs'),
  // Ink asks for it when it is developed, and only then.
  'react-devtools-core': join(root, 'scripts/bundle/not-bundled.cjs'),
  '@modelcontextprotocol/client/_shims': join(root, 'scripts/bundle/no-validator.mjs'),
};

/** React as it is shipped, not as it is developed: half of it, and twice as fast. */
const define = { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' };

function filesUnder(dir) {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Changes whenever an input was changed, added or removed. */
function fingerprint() {
  const inputs = [
    ...filesUnder(join(root, 'src')),
    ...filesUnder(join(root, 'scripts/bundle')),
    ...['package.json', 'package-lock.json', 'scripts/build.mjs', 'scripts/code-cache.mjs'].map((file) =>
      join(root, file),
    ),
  ];
  const hash = createHash('sha256');
  for (const file of inputs.sort()) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${relative(root, file)} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex');
}

function lastBuild() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return {};
  }
}

function isFresh(inputs) {
  const { ok, inputs: built, files = [] } = lastBuild();
  return ok === true && built === inputs && files.every((file) => existsSync(join(root, 'dist', file)));
}

function remember(facts) {
  mkdirSync(dirname(report), { recursive: true });
  writeFileSync(report, `${JSON.stringify(facts, null, 2)}\n`);
}

/** Each file appears whole, so that a program that starts at this moment finds either the old or the new one. */
function place(file, content) {
  const target = join(root, 'dist', file);
  mkdirSync(dirname(target), { recursive: true });
  const next = `${target}.${process.pid}`;
  writeFileSync(next, content);
  if (file === command) chmodSync(next, 0o755);
  renameSync(next, target);
}

/** Options of both bundles. */
const common = {
  platform: 'node',
  external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
  // Packages without an exports map: their module files, since UMD wrappers cannot be bundled.
  resolve: { mainFields: ['module', 'main'], alias },
  transform: { define },
  // The SDK does not say of itself that its modules only define things.
  treeshake: { moduleSideEffects: [{ test: /node_modules\/@modelcontextprotocol\//, sideEffects: false }] },
  logLevel: 'warn',
};

/** Half the bytes to parse at every start; names stay, so that a stack can be read. */
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };

/** The terminal is a bundle of its own: Ink waits at the top level of its modules, which CommonJS cannot. */
const terminal = 'tui.mjs';
const terminalApart = {
  name: 'terminal-apart',
  load(id) {
    if (!/[\\/]src[\\/]tui[\\/]main\.tsx$/.test(id)) return null;
    return `import { createRequire } from 'node:module';
      export const runTerminal = async (...args) =>
        (await createRequire(import.meta.url)('../load.js').importModule('./${terminal}')).runTerminal(...args);`;
  },
};

async function generated(input, output) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({ ...common, ...input });
  const { output: files } = await build.generate({ sourcemap: true, minify, ...output });
  await build.close();
  return files;
}

async function bundled() {
  const program = await generated(
    { input: { main: join(root, 'src/cli/main.ts') }, plugins: [terminalApart] },
    {
      // Node 20 can start CommonJS from V8's code cache, and modules not.
      format: 'cjs',
      // What is compiled from the cache cannot import: V8 does not keep who would have to answer.
      dynamicImportInCjs: false,
      entryFileNames: 'chunks/[name]-[hash].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
    },
  );
  const screens = await generated(
    { input: { tui: join(root, 'src/tui/main.tsx') } },
    { format: 'esm', entryFileNames: terminal, chunkFileNames: 'chunks/[name]-[hash].mjs' },
  );
  return { program, screens };
}

/** Places the program, then what starts it: whoever runs the command finds every file that it names. */
function writeProgram({ program, screens }) {
  const source = (name) => readFileSync(join(root, 'scripts/bundle', name), 'utf8');
  const entry = program.find((file) => file.isEntry).fileName;
  const files = {
    ...Object.fromEntries(
      [...program, ...screens].map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]),
    ),
    'package.json': '{ "type": "commonjs" }\n',
    'load.js': source('load.cjs'),
    [command]: source('main.cjs').replaceAll('__ENTRY__', entry),
  };
  for (const [file, content] of Object.entries(files)) place(file, content);
  return { entry, files: Object.keys(files) };
}

/** The names of the files it placed. Without a cache the program works as well, and starts later. */
async function writeCodeCache(entry) {
  rmSync(join(root, 'dist', codeCache), { force: true });
  try {
    place(codeCache, await makeCodeCache(entry));
    return [codeCache];
  } catch (error) {
    console.error(`The program will start slower than it could, since it did not run here: ${error.message}`);
    return [];
  }
}

function removeOthers(kept) {
  const wanted = new Set(kept.map((file) => join(root, 'dist', file)));
  for (const file of filesUnder(join(root, 'dist'))) {
    if (!wanted.has(file)) rmSync(file);
  }
}

/**
 * Resolves with `{skipped, files}`; rejects when the bundle cannot be made. The outcome is in `.cache/build.json` too.
 * Without `cache` it is done in a third of the time, and the program starts in twice its own.
 */
export async function build({ force = false, keep = false, cache = true } = {}) {
  const inputs = fingerprint();
  if (!force && isFresh(inputs)) return { skipped: true, files: lastBuild().files };
  try {
    const { entry, files: program } = writeProgram(await bundled());
    const files = [...program, ...(cache ? await writeCodeCache(entry) : [])];
    if (!keep) removeOthers(files);
    remember({ ok: true, inputs, files });
    return { skipped: false, files };
  } catch (error) {
    remember({ ok: false, inputs, error: error.message });
    throw error;
  }
}

async function main() {
  const started = performance.now();
  const options = { force: process.argv.includes('--force'), keep: process.argv.includes('--keep') };
  try {
    const { skipped, files } = await build(options);
    const took = Math.round(performance.now() - started);
    console.log(skipped ? 'dist is up to date' : `dist: ${files.length} files in ${took} ms`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
