import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSandbox } from './bubblewrap.ts';
import { createInProcessRunner } from './in-process-runner.ts';
import { type Harm, harms, stoppedHarms } from './isolation-tiers.ts';
import type { PinnedTool } from './pinned-tool.ts';
import { createSandboxRunner } from './sandbox-runner.ts';
import { createSubprocessRunner } from './subprocess-runner.ts';
import { closeLater, type TestContext, testContext, testFolder, until, verifyFile, writeTool } from './test-tools.ts';
import type { RemoteRunnerOptions } from './tool-pool.ts';
import type { ToolRunner } from './tool-runner.ts';
import { createWorkerRunner } from './worker-runner.ts';

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
  /** Runs a tool of this source and text as input. */
  run(source: string, text?: string): Promise<unknown>;
}

/** Runs a tool until it says that it is about to do harm, and then has its call stopped. */
async function stop({ run, context }: Attempt, source: string, text?: string): Promise<void> {
  const running = run(source, text);
  running.catch(() => undefined);
  await Promise.race([until(() => context.told.includes('in')), running]);
  context.abort('stopped');
  await expect(running).rejects.toBe('stopped');
}

/** Programs that run with a text in their command line. */
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
/** A number of seconds that no other program is told to sleep for. */
function sleepTime(): string {
  count += 1;
  return `1000.${process.pid}${count}`;
}

/** How each harm is tried, and what comes of it where it is stopped. */
const attempts: Readonly<Record<Harm, (attempt: Attempt) => Promise<void>>> = {
  async exit({ run }) {
    await expect(run('export function run() { process.exit(0); }')).rejects.toMatchObject({
      code: 'tool.process.exited',
      message: expect.stringContaining('with code 0'),
    });
  },
  async loop(attempt) {
    await stop(attempt, 'export function run(input, { progress }) { progress("in"); for (;;); }');
  },
  async memory({ run }) {
    const source = 'export function run() { const all = []; for (;;) all.push(new Array(100_000).fill(all.length)); }';
    await expect(run(source)).rejects.toMatchObject({ code: 'tool.process.memory' });
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
    await expect(run(source)).rejects.toMatchObject({ code: 'tool.process.stuck' });
    const top = 'await new Promise(() => {});\nexport function run() {}';
    await expect(run(top)).rejects.toMatchObject({ code: 'tool.process.stuck' });
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
      code: 'tool.process.exited',
    });
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
      code: 'tool.process.exited',
    });
    await until(() => findPrograms(seconds).length === 0);
    expect(await run(source)).toBe(1);
    await runner.close();
    await until(() => findPrograms(seconds).length === 0);
  },
  async network({ run }) {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = Object(server.address());
      const source = `import { connect } from 'node:net';
        export function run() {
          return new Promise((resolve) => connect(${port}, '127.0.0.1').on('error', ({ code }) => resolve(code)).on('connect', () => resolve('in')));
        }`;
      expect(await run(source)).not.toBe('in');
      expect(connections).toBe(0);
    } finally {
      server.close();
    }
  },
  async files({ run }) {
    const file = join(testFolder(), 'canary');
    const source = `import { writeFileSync } from 'node:fs';
      export function run() { try { writeFileSync(${JSON.stringify(file)}, ''); return 'in'; } catch ({ code }) { return code; } }`;
    expect(await run(source)).not.toBe('in');
    expect(existsSync(file)).toBe(false);
  },
  async escape(attempt) {
    const seconds = sleepTime();
    await stop(
      attempt,
      `import { spawn } from 'node:child_process';
      export async function run(input, { progress }) {
        spawn('sleep', ['${seconds}'], { stdio: 'ignore', detached: true }).once('spawn', () => progress('in'));
        await new Promise((resolve) => setInterval(resolve, 1e9));
      }`,
    );
    await until(() => findPrograms(seconds).length === 0);
  },
};

// Runs in the host itself, so that it costs no process.
const witness = createInProcessRunner(options);
const bystander = (): PinnedTool => writeTool('export function run() { return process.pid; }');

const rows = (Object.keys(tiers) as Tier[]).flatMap((tier) =>
  stoppedHarms[tier].map((harm) => ({ tier, harm, what: harms[harm] })),
);

test.each(rows)('$tier: a tool that $what costs its call and nothing else', async ({ tier, harm }) => {
  const runner = closeLater(tiers[tier]());
  const context = testContext();
  // Where the machine has no sandbox, not a line of such a tool runs, in no weaker tier either.
  if (tier === 'sandbox' && !sandbox.available) {
    const refused = runner.run(writeTool("export function run() { return 'ran'; }"), {}, context);
    await expect(refused).rejects.toMatchObject({ code: 'tool.isolation.unavailable' });
    return;
  }
  await attempts[harm]({
    runner,
    tier,
    context,
    run: (source) => runner.run(writeTool(source), {}, context),
  });
  // The host is well, and so is another tool of it.
  expect(await witness.run(bystander(), {}, testContext())).toBe(process.pid);
});
