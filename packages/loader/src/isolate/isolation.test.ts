import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Json } from '@holdfast/core';
import { expect, test } from 'vitest';
import type { PinnedTool } from '../language/types.ts';
import {
  closeLater,
  type TestContext,
  testContext,
  testFolder,
  until,
  useTestFolder,
  verifyFile,
  writeTool,
} from '../test-tools.ts';
import { findSandbox } from './bubblewrap.ts';
import { createInProcessRunner } from './in-process.ts';
import type { RemoteRunnerOptions } from './pool.ts';
import { createSandboxRunner, createSubprocessRunner } from './subprocess.ts';
import { type Harm, harms, stoppedHarms } from './tiers.ts';
import type { ToolRunner } from './types.ts';
import { createWorkerRunner } from './worker.ts';

useTestFolder();

const options: RemoteRunnerOptions = { verify: verifyFile, memoryMb: 64 };
const sandbox = await findSandbox();
const tiers = {
  worker: () => createWorkerRunner(options),
  subprocess: () => createSubprocessRunner(options),
  sandbox: () => createSandboxRunner(options),
};
type Tier = keyof typeof tiers;

interface Attempt {
  readonly runner: ToolRunner;
  readonly tier: Tier;
  readonly context: TestContext;
  /** Runs a tool with this source. */
  run(source: string, input?: Json): Promise<unknown>;
}

/** Runs a tool until it announces the harm, then aborts its call. */
async function stop({ run, context }: Attempt, source: string): Promise<void> {
  const running = run(source);
  running.catch(() => undefined);
  await Promise.race([until(() => context.told.includes('in')), running]);
  context.abort('stopped');
  await expect(running).rejects.toBe('stopped');
}

/** Programs with a text in their command line. */
function findPrograms(text: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text);
    } catch {
      // It has just ended.
      return false;
    }
  });
}

let count = 0;
/** A number of seconds that no other program sleeps for. */
function sleepTime(): string {
  count += 1;
  // Equal lengths, so that none contains another.
  return `1000.${String(process.pid).padStart(8, '0')}${String(count).padStart(4, '0')}`;
}

/** For each harm, an attempt and its expected end where the harm is stopped. */
const attempts: Readonly<Record<Harm, (attempt: Attempt) => Promise<void>>> = {
  async exit({ run }) {
    await expect(run('export function run() { process.exit(0); }')).rejects.toMatchObject({
      code: 'tool.process.lost',
      reason: 'exited',
      message: expect.stringContaining('with code 0'),
    });
  },
  async loop(attempt) {
    await stop(attempt, 'export function run(input, { progress }) { progress("in"); for (;;); }');
  },
  async heap({ run, tier }) {
    const before = process.memoryUsage.rss();
    const source = 'export function run() { const all = []; for (;;) all.push(new Array(100_000).fill(all.length)); }';
    await expect(run(source)).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'memory' });
    if (tier !== 'worker') expect(process.memoryUsage.rss() - before).toBeLessThan(50e6);
  },
  async globals({ run }) {
    const [{ some }, { parse }, { then }] = [Array.prototype, JSON, Promise.prototype];
    await run(`export function run() {
      Object.prototype.dangerous = false;
      Array.prototype.some = JSON.parse = Promise.prototype.then = () => { throw new Error('patched'); };
      return 1;
    }`).catch(() => undefined);
    expect(Reflect.get({}, 'dangerous')).toBeUndefined();
    expect([Array.prototype.some, JSON.parse, Promise.prototype.then]).toEqual([some, parse, then]);
    expect(await run('export function run() { return [({}).dangerous === undefined, [1].some(Boolean)]; }')).toEqual([
      true,
      true,
    ]);
  },
  async silence({ run }) {
    const source = 'export async function run() { await new Promise(() => {}); }';
    await expect(run(source)).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'stuck' });
    const top = 'await new Promise(() => {});\nexport function run() {}';
    await expect(run(top)).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'stuck' });
  },
  async environment({ run }) {
    process.env['HOLDFAST_TEST_SECRET'] = 's3cret';
    try {
      const seen = await run(
        'export function run() { return [process.env.HOLDFAST_TEST_SECRET ?? null, process.env.HOME ?? null]; }',
      );
      expect(seen).toEqual([null, null]);
    } finally {
      delete process.env['HOLDFAST_TEST_SECRET'];
    }
  },
  async block(attempt) {
    const seconds = sleepTime();
    await stop(
      attempt,
      `import { execSync } from 'node:child_process';
      export function run(input, { progress }) { progress('in'); execSync('sleep ${seconds}'); }`,
    );
    await until(() => findPrograms(seconds).length === 0);
  },
  async crash({ run }) {
    await expect(run('export function run() { process.abort(); }')).rejects.toMatchObject({
      code: 'tool.process.lost',
      reason: 'exited',
    });
  },
  async memory({ runner, context }) {
    const before = process.memoryUsage.rss();
    for (const one of [
      'Buffer.alloc(1e7, 1)',
      'new Uint8Array(new WebAssembly.Memory({ initial: 200, maximum: 200 }).buffer).fill(1)',
    ]) {
      const source = `export function run() { const all = []; for (;;) all.push(${one}); }`;
      // Others may start threads, and have gigabytes for them.
      const tool = writeTool(source, { effects: 'none' });
      const thrown: unknown = await runner.run(tool, {}, context).catch((error: unknown) => error);
      // A failed allocation throws in the tool, or ends its process.
      expect(thrown, one).toBeInstanceOf(Error);
      expect(String(thrown), one).toMatch(/memory|allocat|ended/i);
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(50e6);
  },
  async children({ run, runner }) {
    const seconds = sleepTime();
    const source = `import { spawn } from 'node:child_process';
      export async function run() {
        const child = spawn('sleep', ['${seconds}'], { stdio: 'ignore' });
        await new Promise((resolve) => child.once('spawn', resolve));
        return 1;
      }`;
    await expect(run(source.replace('return 1', 'process.exit(1)'))).rejects.toMatchObject({
      code: 'tool.process.lost',
      reason: 'exited',
    });
    await until(() => findPrograms(seconds).length === 0);
    expect(await run(source)).toBe(1);
    await runner.close();
    await until(() => findPrograms(seconds).length === 0);
  },
  async network({ run }) {
    const heard: string[] = [];
    const server = createServer((socket) => {
      heard.push('tcp');
      socket.destroy();
    });
    const datagrams = createSocket('udp4', () => heard.push('udp'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => datagrams.bind(0, '127.0.0.1', resolve));
    const abstract = createServer((socket) => {
      heard.push('abstract');
      socket.destroy();
    });
    const name = `\0holdfast-test-${process.pid}-${sleepTime()}`;
    await new Promise<void>((resolve) => abstract.listen(name, resolve));
    // Like a daemon with a socket in its own folder. Only root can create one there; others check that the folder is hidden.
    const folder = '/var/lib';
    const path = join(folder, `holdfast-test-${process.pid}.sock`);
    const daemon = createServer((socket) => {
      heard.push('socket');
      socket.destroy();
    });
    if (process.getuid?.() === 0) await new Promise<void>((resolve) => daemon.listen(path, resolve));
    try {
      const port = Number(Reflect.get(Object(server.address()), 'port'));
      const source = `import { createSocket } from 'node:dgram';
        import { Resolver } from 'node:dns/promises';
        import { existsSync } from 'node:fs';
        import { connect } from 'node:net';
        const knock = (...where) => new Promise((resolve) => connect(...where).on('error', ({ code }) => resolve(code)).on('connect', () => resolve('in')));
        export async function run() {
          const found = [await knock(${port}, '127.0.0.1'), await knock(${JSON.stringify(name)}), await knock(${JSON.stringify(path)})];
          if (existsSync(${JSON.stringify(folder)})) found.push('in');
          const resolver = new Resolver({ timeout: 50, tries: 1 });
          resolver.setServers(['127.0.0.1:${datagrams.address().port}']);
          found.push(await resolver.resolve4('holdfast.test').catch(({ code }) => code));
          const socket = createSocket('udp4');
          await new Promise((resolve) => socket.send('x', ${datagrams.address().port}, '127.0.0.1', resolve));
          socket.close();
          return found;
        }`;
      expect(await run(source)).not.toContain('in');
      // By now, everything sent to this machine has arrived.
      expect(heard).toEqual([]);
    } finally {
      for (const one of [server, abstract, daemon, datagrams]) one.close();
    }
  },
  async files({ run, tier }) {
    const folder = testFolder();
    const canary = `holdfast-canary-${process.pid}`;
    // Files that tools must not change, and places where anyone can write.
    const kept = ['holdfast.lock', 'holdfast.config.ts', '.holdfast/sessions/1.jsonl', 'plugins/other.mjs'];
    for (const path of kept) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), 'as it was');
    }
    // Without isolation, it tries only this test's folder.
    const elsewhere = ['/tmp', '/var/tmp', '/run', '/dev', '/dev/shm', '/etc', '/', homedir()];
    const places = tier === 'sandbox' ? [...elsewhere, folder] : [folder];
    const source = `import { appendFileSync, mkdirSync, rmSync, symlinkSync, chmodSync, writeFileSync } from 'node:fs';
      const tries = {
        write: (path) => appendFileSync(path, 'x'), remove: (path) => rmSync(path), mode: (path) => chmodSync(path, 0o777),
      };
      const made = [(path) => writeFileSync(path, ''), (path) => mkdirSync(path), (path) => symlinkSync('/etc', path)];
      const done = [];
      const attempt = (what, run) => { try { run(); done.push(what); } catch {} };
      export function run({ kept, places }) {
        for (const path of kept) for (const [name, run] of Object.entries(tries)) attempt(name + ' ' + path, () => run(path));
        for (const place of places) for (const make of made) attempt(place, () => make(place + '/${canary}'));
        return done;
      }`;
    const input = { kept: kept.map((path) => join(folder, path)), places };
    try {
      expect(await run(source, input)).toEqual([]);
      for (const path of kept) expect(readFileSync(join(folder, path), 'utf8')).toBe('as it was');
    } finally {
      for (const place of places) rmSync(join(place, canary), { recursive: true, force: true });
    }
  },
  async signals({ run }) {
    const victim = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
    const ended = once(victim, 'close');
    try {
      const source = `import { spawnSync } from 'node:child_process';
        export function run({ pid }) { spawnSync('kill', ['-9', String(pid)]); spawnSync('/bin/sh', ['-c', 'kill -9 ' + pid]); return process.ppid; }`;
      await run(source, { pid: victim.pid ?? 0 });
      // It answers or it ends: on a busy machine a killed one remains for a while.
      victim.stdin.on('error', () => {}).write('well');
      expect(await Promise.race([once(victim.stdout, 'data'), ended])).toEqual([Buffer.from('well')]);
    } finally {
      victim.kill('SIGKILL');
    }
  },
  async neighbours({ run }) {
    const secret = `s3cret-${sleepTime()}`;
    const neighbour = spawn('sleep', [sleepTime()], { stdio: 'ignore', env: { SECRET: secret } });
    try {
      const source = `import { readdirSync, readFileSync } from 'node:fs';
        export function run({ secret }) {
          return readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).filter((name) => {
            try { return readFileSync('/proc/' + name + '/environ', 'latin1').includes(secret); } catch { return false; }
          }).length;
        }`;
      expect(await run(source, { secret })).toBe(0);
    } finally {
      neighbour.kill('SIGKILL');
    }
  },
  async detached({ run }) {
    const seconds = sleepTime();
    const source = `import { spawn, spawnSync } from 'node:child_process';
      export async function run({ way }) {
        if (way === 'own') spawn('sleep', ['${seconds}'], { stdio: 'ignore', detached: true }).unref();
        else spawnSync('/bin/sh', ['-c', 'setsid sleep ${seconds} > /dev/null 2>&1 &']);
        return 1;
      }`;
    for (const way of ['own', 'by another one']) {
      expect(await run(source, { way })).toBe(1);
      await until(() => findPrograms(seconds).length === 0);
    }
  },
  // A test of its own, with fewer programs, shows that the system enforces the limit.
  async bomb({ run }) {
    const source = `import { readFileSync } from 'node:fs';
      export function run() { return readFileSync('/proc/self/limits', 'latin1').match(/^Max processes +(\\d+) +(\\d+)/m)?.slice(1); }`;
    const total = Number(/\/(\d+)/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1]);
    // Whole numbers, or the tool has nothing to return.
    for (const limit of Object(await run(source))) expect(Number(limit)).toBeLessThan(total + 5_000);
  },
  async escape({ run, runner }) {
    const seconds = sleepTime();
    const source = `import { spawnSync } from 'node:child_process';
      export function run() {
        spawnSync('/bin/sh', ['-c', 'setsid sleep ${seconds} > /dev/null 2>&1 &'], { env: {} });
        return 1;
      }`;
    expect(await run(source)).toBe(1);
    await runner.close();
    await until(() => findPrograms(seconds).length === 0);
  },
};

// Runs in the host itself, so needs no process.
const witness = createInProcessRunner(options);
const bystander = (): PinnedTool => writeTool('export function run() { return process.pid; }');

const rows = (Object.keys(tiers) as Tier[]).flatMap((tier) =>
  stoppedHarms[tier].map((harm) => ({ tier, harm, what: harms[harm] })),
);

test.for(rows)('$tier: a tool that $what fails only its own call', async ({ tier, harm }, { skip }) => {
  const runner = closeLater(tiers[tier]());
  const context = testContext();
  // Without a sandbox, such a tool does not run at all, not even in a weaker tier.
  if (tier === 'sandbox' && !sandbox.available) {
    const refused = runner.run(writeTool("export function run() { return 'ran'; }"), {}, context);
    await expect(refused).rejects.toMatchObject({ code: 'tool.process.not_started', reason: 'isolation' });
    skip(`The sandbox cannot be tried here. ${sandbox.reason}`);
  }
  await attempts[harm]({
    runner,
    tier,
    context,
    run: (source, input = {}) => runner.run(writeTool(source), input, context),
  });
  // The host still works, and so does another tool.
  expect(await witness.run(bystander(), {}, testContext())).toBe(process.pid);
});

// Harms documented as not stopped really are not: people rely on this when they decide what to load.
test.skipIf(process.platform !== 'linux').each(['network', 'files', 'signals', 'neighbours'] as const)(
  'subprocess: a tool that does harm by `%s` is not stopped, as documented',
  async (harm) => {
    expect(stoppedHarms.subprocess).not.toContain(harm);
    const runner = closeLater(tiers.subprocess());
    const context = testContext();
    const run = (source: string, input: Json = {}): Promise<unknown> => runner.run(writeTool(source), input, context);
    await expect(attempts[harm]({ runner, tier: 'subprocess', context, run })).rejects.toThrow('expected');
  },
);
