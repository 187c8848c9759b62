// Runs a program of this checkout on the pinned Node.js, and installs missing dependencies first. Plain JavaScript without
// dependencies, because it runs before the setup: it needs only Node.js 18.17 and npm.
//
//   node tooling/setup.mjs                          only sets up
//   node tooling/setup.mjs PROGRAM [ARGUMENT ...]   sets up, then runs PROGRAM in the caller's folder
//   node tooling/setup.mjs --bin NAME [ARGUMENT ...]  the same for a program of node_modules, in the root
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const pnpm = 'pnpm@12.21.0';
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const windows = process.platform === 'win32';
const node = join(root, 'node_modules', 'node', 'bin', windows ? 'node.exe' : 'node');
const stampPath = join(root, 'node_modules', '.holdfast-setup');
// Sources run with type stripping: without the compile cache every program starts at half the speed.
const compiled = join(root, 'node_modules', '.cache', 'node');

// Trying the program needs a third of the packages that development does: compilers, linters, the guide and the benchmarks' peers are
// installed by the first command that needs them.
const programs = ['tooling/start/start.ts', 'apps/cli/src/main.ts'];
const parts = ['--prod', '--filter=.', '--filter=./packages/*', '--filter=./apps/cli'];

function readStamp() {
  return existsSync(stampPath) && existsSync(node) ? readFileSync(stampPath, 'utf8') : '';
}

function setUp(program) {
  const lockfile = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex');
  const stamp = readStamp();
  const inParts = programs.includes(program);
  if (stamp === lockfile || (inParts && stamp === `${lockfile} in parts`)) return;
  const startedAtMs = Date.now();
  console.error('holdfast: installing the pinned dependencies (about a minute the first time) ...');
  // All its output goes to stderr: stdout belongs to the program that runs next.
  // The lockfile pins every package by its digest; the minimum release age was checked when it was pinned.
  const only = inParts ? parts : [];
  const parameters = ['--yes', pnpm, 'install', '--frozen-lockfile', '--config.minimumReleaseAge=0', ...only];
  const { status, error } = spawnSync('npx', parameters, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: windows,
  });
  if (error !== undefined || status !== 0 || !existsSync(node)) {
    console.error(
      `holdfast: the set-up failed (${error?.message ?? `\`npx ${pnpm} install\` ended with ${status}`}). ` +
        'Setup needs npm and a reachable package registry. Run the command again to retry.',
    );
    process.exit(1);
  }
  // It grows with every change.
  rmSync(compiled, { recursive: true, force: true });
  mkdirSync(dirname(stampPath), { recursive: true });
  writeFileSync(stampPath, inParts ? `${lockfile} in parts` : lockfile);
  console.error(`holdfast: ready after ${Math.round((Date.now() - startedAtMs) / 1000)} s.\n`);
}

/** The JavaScript file behind the command `name`, so that the pinned Node.js can run it on every platform. */
function findBin(name) {
  const manifestPath = createRequire(join(root, 'package.json')).resolve(`${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifestPath, 'utf8'));
  return join(dirname(manifestPath), typeof bin === 'string' ? bin : bin[name]);
}

function run([first, ...rest]) {
  const isBin = first === '--bin';
  const program = isBin ? findBin(rest[0]) : resolve(root, first);
  const child = spawn(node, ['--conditions=holdfast-source', program, ...(isBin ? rest.slice(1) : rest)], {
    // npm starts scripts in the root, but the user's paths are relative to their own folder.
    cwd: isBin ? root : (process.env.INIT_CWD ?? process.cwd()),
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: compiled, ...process.env },
  });
  // A terminal sends Ctrl-C to the whole group, so the child has it already; a second one would force an exit.
  const atTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !atTerminal) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`holdfast: cannot start \`${program}\`: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

setUp(process.argv[2]);
if (process.argv.length > 2) run(process.argv.slice(2));
