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
import { cpuMsOfChildren, cpuMsOfProcess } from './cpu-time.ts';
import type { Figure, FigureReport } from './report.ts';

/** How often each hook is asked. */
export interface GuardRounds {
  readonly rounds: number;
  readonly warmUpRounds: number;
  /** A busy machine ends with fewer rounds. */
  readonly withinMs: number;
}

const usually: GuardRounds = { rounds: 100, warmUpRounds: 5, withinMs: 60_000 };
/** The rounds of the design: some minutes. */
export const allGuardRounds: GuardRounds = { rounds: 500, warmUpRounds: 20, withinMs: Number.POSITIVE_INFINITY };
const goalMs = 80;
const httpGoalMs = 5;
const sizes = [10, 10_000] as const;
const built = fileURLToPath(new URL('../../apps/cli/dist/guard-hook', import.meta.url));

/**
 * The time an agent waits for the hook of a call: from start to end of its process, by turns with Node.js alone, or for the answer to its
 * request, by turns with a server that only answers; each on one growing log. CPU time tells our cost from the load of the machine.
 */
export async function measureGuard({ rounds, warmUpRounds, withinMs }: GuardRounds = usually): Promise<FigureReport> {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-bench-guard-'));
  const alone = join(home, 'alone');
  const work = join(home, 'work');
  const hook = join(home, 'hook');
  mkdirSync(work);
  // As it is installed: in a folder where it may keep what it compiled.
  cpSync(built, hook, { recursive: true });
  const program = join(hook, 'guard-hook-main.cjs');
  const untilMs = performance.now() + withinMs;
  for (const size of sizes) await writeLog(home, size);
  cpSync(stateFolder(home), stateFolder(alone), { recursive: true });
  // A file in place of the daemon's folder.
  writeFileSync(join(stateFolder(alone), 'daemon'), '');
  const http = { port: await findPort(), token: '0'.repeat(32) };
  writeFileSync(join(stateFolder(home), 'http.json'), JSON.stringify(http));
  const daemon = await startDaemon(program, home);
  const answering = await startAnswering();
  try {
    const ofDaemon = (): number => cpuMsOfProcess(daemon.pid ?? 0);
    const ofBoth = (): number => cpuMsOfChildren() + ofDaemon();
    const node: Subject = { name: 'Node.js alone', cpuMs: cpuMsOfChildren, start: () => start(['--eval', '0'], home) };
    const server: Subject = {
      name: 'a server that only answers',
      cpuMs: () => cpuMsOfProcess(answering.pid),
      start: () => post('{}', { ...http, port: answering.port }),
    };
    const subjects: readonly Subject[] = [
      node,
      ...[home, alone].flatMap((place) =>
        sizes.map((size) => ({
          name: `hook${place === home ? '' : ' without a daemon'}, log of ${size.toLocaleString('en')} records`,
          over: node.name,
          ...(place === home ? { goalMs } : {}),
          cpuMs: place === home ? ofBoth : cpuMsOfChildren,
          start: (round: number) => start([program, 'claude-code'], place, eventOf(work, size, `round-${round}`)),
        })),
      ),
      server,
      ...sizes.map((size) => ({
        name: `hook by HTTP, log of ${size.toLocaleString('en')} records`,
        over: server.name,
        goalMs: httpGoalMs,
        cpuMs: ofDaemon,
        start: (round: number) => post(eventOf(work, size, `http-${round}`), http),
      })),
    ];
    const samples = new Map<string, Sample[]>(subjects.map(({ name }) => [name, []]));
    let measured = 0;
    for (let round = 0; round < rounds + warmUpRounds; round += 1) {
      for (const subject of subjects) {
        const computedMs = subject.cpuMs();
        const ms = await subject.start(round);
        if (round >= warmUpRounds) samples.get(subject.name)?.push({ ms, cpuMs: subject.cpuMs() - computedMs });
      }
      measured = round + 1 - warmUpRounds;
      // Enough for a median.
      if (measured >= 5 && performance.now() > untilMs) break;
    }
    return {
      name: `guard: an allowed call through its hook, ${measured} times after ${warmUpRounds}`,
      figures: toFigures(subjects, samples),
    };
  } finally {
    const ended = Promise.all([once(daemon, 'exit'), once(answering.child, 'exit')]);
    daemon.kill();
    answering.child.kill();
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}

interface Sample {
  readonly ms: number;
  readonly cpuMs: number;
}

interface Subject {
  readonly name: string;
  /** The subject that does nothing but be started or asked. */
  readonly over?: string;
  /** For the 95th percentile. */
  readonly goalMs?: number;
  /** The CPU time of its processes so far. */
  cpuMs(): number;
  /** The milliseconds that it took. */
  start(round: number): number | Promise<number>;
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Answering {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
}

const answers = `
  const server = require('node:http').createServer((request, response) => {
    response.setHeader('connection', 'close');
    request.on('end', () => response.end()).resume();
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

async function startAnswering(): Promise<Answering> {
  const child = spawn(process.execPath, ['--eval', answers], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  return { child, pid: child.pid ?? 0, port: Number(port) };
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

function toFigures(subjects: readonly Subject[], samples: ReadonlyMap<string, readonly Sample[]>): readonly Figure[] {
  const p = (name: string, share: number): number => at(samples.get(name)?.map(({ ms }) => ms) ?? [], share);
  return subjects.flatMap(({ name, over, goalMs: goal }): readonly Figure[] => {
    const computed = (samples.get(name) ?? []).map(({ cpuMs }) => cpuMs);
    const cpuMs = computed.reduce((sum, each) => sum + each, 0) / computed.length;
    return [
      { name: `${name}, p50`, value: round(p(name, 0.5)), unit: 'ms' },
      { name: `${name}, p95`, value: round(p(name, 0.95)), unit: 'ms', ...(goal === undefined ? {} : { goal }) },
      ...(Number.isNaN(cpuMs) ? [] : [{ name: `${name}, CPU time`, value: round(cpuMs), unit: 'ms' }]),
      ...(over === undefined
        ? []
        : [
            { name: `${name}, p50 over ${over}`, value: round(p(name, 0.5) - p(over, 0.5)), unit: 'ms' },
            { name: `${name}, p95 over ${over}`, value: round(p(name, 0.95) - p(over, 0.95)), unit: 'ms' },
          ]),
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
