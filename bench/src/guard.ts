import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createGuard, decisions } from '@holdfast/guard';
import { openSession } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { type Extent, everything } from './compare.ts';
import type { Figure, FigureReport } from './report.ts';

const rounds = 500;
const warmUpRounds = 20;
const goalMs = 80;
const httpGoalMs = 5;
const sizes = [10, 10_000] as const;
const built = fileURLToPath(new URL('../../apps/cli/dist/guard-hook', import.meta.url));

/**
 * The time an agent waits for the hook of a call: from start to end of its process, by turns with Node.js alone, or for the answer to its
 * request; each on one growing log.
 */
export async function measureGuard(extent: Extent = everything): Promise<FigureReport> {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-bench-guard-'));
  const alone = join(home, 'alone');
  const work = join(home, 'work');
  const hook = join(home, 'hook');
  mkdirSync(work);
  // As it is installed: in a folder where it may keep what it compiled.
  cpSync(built, hook, { recursive: true });
  const program = join(hook, 'guard-hook-main.cjs');
  for (const size of sizes) for (const place of [home, alone]) await writeLog(place, size);
  // A file in place of the daemon's folder.
  writeFileSync(join(stateFolder(alone), 'daemon'), '');
  const http = { port: await findPort(), token: '0'.repeat(32) };
  writeFileSync(join(stateFolder(home), 'http.json'), JSON.stringify(http));
  const daemon = await startDaemon(program, home);
  try {
    const subjects: readonly Subject[] = [
      { name: 'Node.js alone', start: () => start(['--eval', '0'], home) },
      ...sizes.map((size) => ({
        name: `${byHttp}, log of ${size.toLocaleString('en')} records`,
        start: (round: number) => post(eventOf(work, size, `http-${round}`), http),
      })),
      ...[home, alone].flatMap((place) =>
        sizes.map((size) => ({
          name: `hook${place === home ? '' : ' without a daemon'}, log of ${size.toLocaleString('en')} records`,
          start: (round: number) => start([program, 'claude-code'], place, eventOf(work, size, `round-${round}`)),
        })),
      ),
    ];
    const samples = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
    for (let round = 0; round < Math.min(rounds, extent.rounds) + warmUpRounds; round += 1)
      for (const subject of subjects) {
        const ms = await subject.start(round);
        if (round >= warmUpRounds) samples.get(subject.name)?.push(ms);
      }
    return { name: 'guard: an allowed call through its hook', figures: toFigures(samples) };
  } finally {
    const ended = once(daemon, 'exit');
    daemon.kill();
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}

interface Subject {
  readonly name: string;
  /** The milliseconds that it took. */
  start(round: number): number | Promise<number>;
}

const byHttp = 'hook by HTTP';

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface PostOptions {
  readonly port: number;
  readonly token: string;
}

/** As an agent does, by a connection of its own. */
async function post(event: string, { port, token }: PostOptions): Promise<number> {
  const startedAtMs = performance.now();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/holdfast/claude-code', headers });
  sent.end(event);
  const [response] = await once(sent, 'response');
  const body = await text(response);
  const ms = performance.now() - startedAtMs;
  if (response.statusCode !== 200 || body !== '') throw new Error(`the call was not let through: ${body}`);
  return ms;
}

/** A child of this process, so that it ends with it. Resolves when it answers. */
async function startDaemon(program: string, home: string): Promise<ChildProcess> {
  const folder = join(stateFolder(home), 'daemon');
  mkdirSync(folder, { mode: 0o700 });
  const changes = watch(folder);
  const daemon = spawn(process.execPath, [program, 'daemon'], {
    env: { HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for await (const { filename } of changes) if (filename === 'daemon.json') break;
  return daemon;
}

function toFigures(samples: ReadonlyMap<string, readonly number[]>): readonly Figure[] {
  const [floor = []] = samples.values();
  return [...samples].flatMap(([name, taken], index): readonly Figure[] => {
    const p95 = at(taken, 0.95);
    const times = [
      { name: `${name}, p50`, value: round(at(taken, 0.5)), unit: 'ms' },
      {
        name: `${name}, p95`,
        value: round(p95),
        unit: 'ms',
        ...(index === 0 || name.includes('without') ? {} : { goal: name.startsWith(byHttp) ? httpGoalMs : goalMs }),
      },
    ];
    if (index === 0) return times;
    const ratio = (share: number): number => round(at(taken, share) / at(floor, share));
    return [
      ...times,
      { name: `${name}, p50 against Node.js`, value: ratio(0.5), unit: 'x' },
      { name: `${name}, p95 against Node.js`, value: ratio(0.95), unit: 'x' },
    ];
  });
}

function at(samples: readonly number[], share: number): number {
  return samples.toSorted((left, right) => left - right)[Math.floor(samples.length * share)] ?? Number.NaN;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

function start(words: readonly string[], home: string, input = ''): number {
  const startedAtMs = performance.now();
  const env = { PATH: process.env['PATH'], HOME: home };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { input, env, encoding: 'utf8' });
  const ms = performance.now() - startedAtMs;
  if (status !== 0 || stdout !== '') throw new Error(`the call was not let through: ${stdout}${stderr}`);
  return ms;
}

function eventOf(cwd: string, size: number, id: string): string {
  return JSON.stringify({
    session_id: `size-${size}`,
    cwd,
    hook_event_name: 'PreToolUse',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    tool_use_id: id,
  });
}

function stateFolder(home: string): string {
  return join(home, '.local', 'state', 'holdfast', 'guard');
}

/** Creates a session log where the hook expects it, with at least this many records. */
async function writeLog(home: string, records: number): Promise<void> {
  const folder = join(stateFolder(home), '.holdfast', 'sessions');
  mkdirSync(folder, { recursive: true });
  const id = `claude-code-size-${records}`;
  // As the hook opens it.
  const store = jsonlStore(join(folder, `${id}.jsonl`), { snapshotAfterBytes: 128 * 1024 });
  const session = await openSession(store, { id, slices: [decisions] });
  const guard = createGuard({ session, policies: [] });
  let each = 0;
  for (let call = 0; call === 0 || call * each < records; call += 1) {
    const told = { id: `call-${call}`, name: 'Bash', input: { command: 'ls' }, cwd: join(home, 'work') };
    await guard.before(told);
    await guard.after(told, { ok: true, value: 'a.txt' });
    if (call === 0) each = [...session.records()].length;
  }
  await session.close();
}
