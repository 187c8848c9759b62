import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Effects, HoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { closeLater, testContext, testFolder, until, useTestFolder, verifyFile, writeTool } from '../test-tools.ts';
import { findSandbox } from './bubblewrap.ts';
import type { RemoteRunnerOptions } from './pool.ts';
import { createSandboxRunner, createSubprocessRunner } from './subprocess.ts';
import type { ToolRunner } from './types.ts';
import { createWorkerRunner } from './worker.ts';

useTestFolder();

const tiers = {
  worker: createWorkerRunner,
  subprocess: createSubprocessRunner,
  sandbox: createSandboxRunner,
};
type Tier = keyof typeof tiers;

const sandbox = await findSandbox();
/** The tiers available here. */
const here = (Object.keys(tiers) as Tier[]).filter((tier) => tier !== 'sandbox' || sandbox.available);
const inProcesses = here.filter((tier) => tier !== 'worker');

function open(tier: Tier, options: Partial<RemoteRunnerOptions> = {}): ToolRunner {
  return closeLater(tiers[tier]({ verify: verifyFile, memoryMb: 64, ...options }));
}

const run = (tier: Tier, source: string, effects: Effects = 'external'): Promise<unknown> =>
  open(tier).run(writeTool(source, { effects }), {}, testContext());

test.each(here)('%s: an unhandled rejection of the file is harmless, and reported', async (tier) => {
  let printed = '';
  const runner = open(tier, {
    print: (text) => {
      printed += text;
    },
  });
  const tool = writeTool("Promise.reject(new Error('stray'));\nexport function run() { return 1; }");
  expect(await runner.run(tool, {}, testContext())).toBe(1);
  await until(() => printed.includes('stray'));
  expect(await runner.run(tool, {}, testContext())).toBe(1);
});

const signalling = [
  'process.kill(target, 0)',
  'kill(target, 0)',
  "(await import('node:process')).default.kill(target, 0)",
  "process.getBuiltinModule('process').kill(target, 0)",
  "createRequire(import.meta.url)('process').kill(target, 0)",
  "new Function('return process')().kill(target, 0)",
  "runInNewContext('process.kill(target, 0)', { process, target })",
  "process.binding('process_methods')._kill(target, 0)",
];

test.each(here)("%s: JavaScript's ways to signal its own or the host's process are blocked", async (tier) => {
  const source = `
    import { createRequire } from 'node:module';
    import { kill } from 'node:process';
    import { runInNewContext } from 'node:vm';
    export async function run() {
      const done = [];
      for (const target of [process.pid, process.ppid]) {
        ${signalling.map((way, index) => `try { ${way}; done.push(${index}); } catch {}`).join('\n')}
      }
      return done;
    }`;
  expect(await run(tier, source)).toEqual([]);
  expect(await run(tier, source, 'none')).toEqual([]);
});

const reaching = [
  "process.getBuiltinModule('child_process').execSync('echo > CANARY')",
  "new Function('return process')().getBuiltinModule('fs').writeFileSync('CANARY', '')",
  "process.constructor.constructor('return process')().getBuiltinModule('child_process').spawnSync('touch', ['CANARY'])",
  "process.binding('fs').internalModuleStat('CANARY')",
];

test.each([
  { tier: 'sandbox', effects: 'external', reaches: false },
  { tier: 'subprocess', effects: 'none', reaches: false },
  // Not stopped here, as the guide says.
  { tier: 'subprocess', effects: 'external', reaches: true },
] as const)(
  '$tier: bypassing its imports, a tool with effects $effects reaches files: $reaches',
  async ({ tier, effects, reaches }) => {
    if (!here.includes(tier)) return;
    const canaries = reaching.map((_way, index) => join(testFolder(), `canary-${index}`));
    const tries = reaching.map((way, index) => `try { ${way.replace('CANARY', canaries[index] ?? '')}; } catch {}`);
    await run(tier, `export function run() { ${tries.join('\n')} return null; }`, effects);
    // `process.binding` is blocked in all tiers.
    expect(canaries.map((path) => existsSync(path))).toEqual([reaches, reaches, reaches, false]);
  },
);

// The host reads sent data; a thread shares the host's memory.
const floods = [
  {
    what: 'returns 300 MB',
    body: "return 'x'.repeat(3e8);",
    code: /^tool\.(message\.too_large|process\.lost: memory)$/,
  },
  {
    what: 'prints 100 MB',
    body: "for (let count = 0; count < 100; count += 1) await new Promise((resolve) => process.stdout.write('x'.repeat(1e6), resolve));",
    code: /^tool\.process\.lost: flood$/,
  },
  {
    what: 'writes an invalid message',
    body: "writeSync(3, 'garbage, garbage');",
    code: /^tool\.process\.lost: protocol$/,
  },
  {
    what: 'writes a message of 1 GB',
    body: 'writeSync(3, Buffer.from([0x40, 0, 0, 0, 0, 0, 0, 0])); for (;;) writeSync(3, Buffer.alloc(1e6));',
    code: /^tool\.process\.lost: protocol$/,
  },
  {
    what: 'writes the half of a message and no more',
    body: 'writeSync(3, Buffer.from([0, 0, 0, 9, 0, 0, 0, 0])); writeSync(3, Buffer.from([0x7b, 0x22])); process.exit(0);',
    code: /^tool\.process\.lost: exited$/,
  },
  {
    what: 'writes JSON that is invalid, as a message',
    body: 'writeSync(3, Buffer.concat([Buffer.from([0, 0, 0, 9, 0, 0, 0, 0]), Buffer.alloc(9, 0x7b)]));',
    code: /^tool\.process\.lost: protocol$/,
  },
];

test.each(inProcesses.flatMap((tier) => floods.map((flood) => ({ tier, ...flood }))))(
  "$tier: a tool that $what fails its call, and the host's memory hardly grows",
  async ({ tier, body, code }) => {
    const before = process.memoryUsage.rss();
    const source = `import { writeSync } from 'node:fs';
      export async function run(input, context) { ${body} await new Promise((resolve) => setInterval(resolve, 1e9)); }`;
    await expect(run(tier, source)).rejects.toSatisfy((error: HoldfastError) => code.test(describeCode(error)));
    expect(process.memoryUsage.rss() - before).toBeLessThan(100e6);
  },
);

test.each(here)('%s: the host receives the start of a flood of progress, and a note that it was cut', async (tier) => {
  const context = testContext();
  const source = `export function run(input, { progress, beat }) {
    for (let count = 0; count < 20_000; count += 1) { progress(count + 'x'.repeat(20_000)); beat(); }
    return 1;
  }`;
  expect(await open(tier).run(writeTool(source), {}, context)).toBe(1);
  const told = context.told.filter((message) => message !== '(beat)');
  expect(told[0]).toMatch(/^0x/);
  expect(told.at(-1)).toBe('(further progress of this call is not shown)');
  expect(told.join('').length).toBeLessThan(2_200_000);
  expect(context.told.length - told.length).toBeLessThan(2_000);
});
