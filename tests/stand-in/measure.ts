// Measures the offline stand-in on a newcomer's requests: each goes to the command-line program as with `npm start`, in a
// fresh copy of the sample project and with every call approved, and is judged by its answer and effects.
//
//     node tooling/setup.mjs tests/stand-in/measure.ts [--json] [--all]
//
// The table has the verdicts and every silently wrong run, with `--all` every run; `--json` prints every run as data. The exit code is
// 1 when a run was silently wrong.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { changedFiles, judge, type Outcome, type Verdict, verdicts } from './judge.ts';
import { requests } from './requests.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sample = join(root, 'examples/sample-project');

const eventSchema = v.variant('type', [
  v.object({
    type: v.literal('tool-call-end'),
    name: v.string(),
    rawArguments: v.unknown(),
    outcome: v.object({ kind: v.string(), message: v.optional(v.string(), ''), value: v.optional(v.unknown()) }),
  }),
  v.object({ type: v.literal('run-end'), status: v.string(), text: v.optional(v.string(), '') }),
]);
type RunEvent = v.InferOutput<typeof eventSchema>;

interface Measured {
  readonly request: string;
  readonly verdict: Verdict;
  readonly calls: readonly string[];
  readonly changed: readonly string[];
  readonly answer: string;
}

const { values: options } = parseArgs({ options: { json: { type: 'boolean' }, all: { type: 'boolean' } } });
const folder = mkdtempSync(join(tmpdir(), 'stand-in-'));
const measured: Measured[] = [];
try {
  for (const [index, entry] of requests.entries()) {
    if (process.stderr.isTTY) process.stderr.write(`\r${index + 1} of ${requests.length}`);
    const { outcome, calls } = await run(entry.request, join(folder, String(index)));
    const { request } = entry;
    const verdict = judge(entry, outcome);
    measured.push({ request, verdict, calls, changed: changedFiles(outcome), answer: outcome.text });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (process.stderr.isTTY) process.stderr.write('\r');
console.log(options.json ? JSON.stringify({ counts: count(), runs: measured }, null, 2) : formatTable());
process.exitCode = measured.some(({ verdict }) => verdict === 'silently wrong') ? 1 : 0;

async function run(request: string, place: string): Promise<{ outcome: Outcome; calls: readonly string[] }> {
  const workspace = join(place, 'project');
  mkdirSync(place);
  cpSync(sample, workspace, { recursive: true });
  const before = readFiles(workspace);
  const events = await ask(request, workspace, join(place, 'home'));
  const ends = events.filter((event) => event.type === 'tool-call-end');
  const last = events.find((event) => event.type === 'run-end');
  const outcome: Outcome = {
    calls: ends.map(({ name, outcome: { kind, value } }) => ({ name, ok: kind === 'ok', value })),
    text: last?.text ?? '',
    completed: last?.status === 'completed',
    before,
    after: readFiles(workspace),
  };
  const calls = ends.map(
    ({ name, rawArguments, outcome: { kind, message } }) =>
      `${name} ${JSON.stringify(rawArguments)}: ${kind}${message === '' ? '' : `, ${message}`}`,
  );
  return { outcome, calls };
}

/** Runs the program and returns the events of calls and of the run's end. */
function ask(request: string, workspace: string, home: string): Promise<readonly RunEvent[]> {
  const words = ['run', request, '--json', '--yes', '--no-config', '--tools', join(root, 'examples/plugins')];
  const child = spawn(
    process.execPath,
    ['--conditions=holdfast-source', join(root, 'apps/cli/src/main.ts'), ...words, '--workspace', workspace],
    { stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000, env: { ...process.env, HOLDFAST_HOME: home } },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      const lines = output.split('\n').filter((line) => line !== '');
      const parsed = lines.map((line) => v.safeParse(eventSchema, JSON.parse(line)));
      const events = parsed.flatMap(({ success, output: event }) => (success ? [event] : []));
      // A run without an end event, not even a failed one, measures nothing.
      if (!events.some(({ type }) => type === 'run-end'))
        reject(new Error(`The program did not run \`${request}\`: ${output}`));
      resolve(events);
    });
  });
}

/** The files of a folder, without the session log. */
function readFiles(workspace: string): ReadonlyMap<string, string> {
  const entries = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    paths
      .map((path) => [relative(workspace, path).replaceAll('\\', '/'), readFileSync(path, 'utf8')] as const)
      .filter(([path]) => !path.startsWith('.holdfast/')),
  );
}

function count(): Readonly<Record<string, number>> {
  return Object.fromEntries(
    verdicts.map((wanted) => [wanted, measured.filter(({ verdict }) => verdict === wanted).length]),
  );
}

function formatTable(): string {
  const total = Object.entries(count()).map(([verdict, runs]) => `${verdict.padEnd(16)}${String(runs).padStart(3)}`);
  const shown = measured.filter(({ verdict }) => options.all || verdict === 'silently wrong');
  const runs = shown.map(({ request, verdict, calls, changed, answer }) =>
    [
      `\n${verdict}: ${request}`,
      ...calls.map((call) => `  call    ${shorten(call)}`),
      ...changed.map((path) => `  changed ${path}`),
      `  answer  ${shorten(answer)}`,
    ].join('\n'),
  );
  return [...total, `${'requests'.padEnd(16)}${String(measured.length).padStart(3)}`, ...runs].join('\n');
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
