import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { allow, ask, definePolicy, deny } from '@holdfast/core';
import { createGuard, type ReleasingGuard } from '@holdfast/guard';
import { governQuery } from '@holdfast/guard/claude-agent-sdk';
import { createSession, memoryStore } from '@holdfast/session';
import { beforeAll, describe, expect, test } from 'vitest';

// The SDK's own package, without the program that it starts: that is Claude Code, under its maker's terms. A stand-in speaks to it.

const version = '0.3.332';
const root = join(import.meta.dirname, '../..');
const folder = join(root, '.cache', `claude-agent-sdk-${version}`);

beforeAll(() => {
  if (!existsSync(join(folder, 'node_modules'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const words = ['install', '--ignore-scripts', '--omit=optional', '--legacy-peer-deps', '--no-audit', '--no-fund'];
    execFileSync('npm', [...words, `@anthropic-ai/claude-agent-sdk@${version}`], { cwd: folder, stdio: 'inherit' });
  }
  const ours = join(folder, 'node_modules', '@holdfast');
  rmSync(ours, { recursive: true, force: true });
  mkdirSync(ours);
  for (const name of ['core', 'guard', 'session']) symlinkSync(join(root, 'packages', name), join(ours, name));
  cpSync(join(import.meta.dirname, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  mkdirSync(join(folder, 'installed'), { recursive: true });
  writeFileSync(join(folder, 'installed', 'program.ts'), program);
}, 120_000);

/** The program of the guide's page, compiled against the SDK's own types. */
const page = readFileSync(join(root, 'apps', 'docs', 'guide', 'claude-agent-sdk.md'), 'utf8');
const program = `${/^```typescript\n([\s\S]*?)^```$/m.exec(page)?.[1]}
declare const prompt: string;
declare const options: import('@anthropic-ai/claude-agent-sdk').Options;
declare const canUseTool: import('@anthropic-ai/claude-agent-sdk').CanUseTool;
declare const guard: import('@holdfast/guard').ReleasingGuard;
export const governed = [run, query({ prompt, options: governQuery(guard) })];
`;

/** Denies 1, asks about 2, allows the rest. */
const byOrder = definePolicy({
  name: 'by-order',
  check({ input }) {
    const { order } = input as { readonly order: number };
    return order === 1 ? deny('Closed.') : order === 2 ? ask('May it?') : allow;
  },
});

interface Script {
  readonly calls: readonly { readonly name: string; readonly input: object; readonly fails?: boolean }[];
  readonly mode?: string;
  readonly supportsBlock?: boolean;
}

interface Ran {
  /** Each call: the input that ran, or the reason of its denial. */
  readonly seen: readonly object[];
  /** Its outcomes in the log. */
  readonly outcomes: readonly string[];
}

type Query = (given: object) => AsyncIterable<{ readonly type: string }>;

async function run(script: Script, options: (guard: ReleasingGuard) => object): Promise<Ran> {
  const { query } = (await import(
    pathToFileURL(join(folder, 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs')).href
  )) as { readonly query: Query };
  const place = mkdtempSync(join(tmpdir(), 'holdfast-sdk-'));
  try {
    const seen = join(place, 'seen.jsonl');
    writeFileSync(seen, '');
    const store = memoryStore();
    const guard = createGuard({ session: createSession({ store }), policies: [byOrder] });
    const given = {
      cwd: place,
      pathToClaudeCodeExecutable: join(import.meta.dirname, 'stand-in-claude.mjs'),
      executable: process.execPath,
      env: { PATH: process.env['PATH'], SCRIPT: JSON.stringify({ mode: 'default', ...script }), SEEN: seen },
      ...options(guard),
    };
    for await (const { type } of query({ prompt: 'Go.', options: given })) if (type === 'result') break;
    const lines = readFileSync(seen, 'utf8').split('\n').filter(Boolean);
    const ends = store.records.filter(({ type }) => type === 'tool-call-end');
    return {
      seen: lines.map((line) => JSON.parse(line) as object),
      outcomes: ends.map((record) => (record as unknown as { outcome: { kind: string } }).outcome.kind),
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const pay = (order: number, more: object = {}) => ({ name: 'Pay', input: { order }, ...more });
const says = (permission: object) => () => Promise.resolve(permission);

describe('a query', () => {
  test('a denial reaches the model, the rest runs, and how it went is in the log', async () => {
    const script = { calls: [pay(1), pay(3), pay(4, { fails: true })] };
    expect(await run(script, (guard) => governQuery(guard))).toEqual({
      seen: [{ no: 'Denied: Closed.' }, { ran: { order: 3 } }, { ran: { order: 4 } }],
      outcomes: ['denied', 'ok', 'failed'],
    });
  });

  test.each<[string, object, object, string]>([
    ['yes', { behavior: 'allow' }, { ran: { order: 2 } }, 'ok'],
    ['no', { behavior: 'deny', message: 'Not today.' }, { no: 'Not today.' }, 'denied'],
    [
      'another input that is denied',
      { behavior: 'allow', updatedInput: { order: 1 } },
      { no: 'Denied: Closed.' },
      'denied',
    ],
  ])('an ask goes to `canUseTool`, which says %s', async (_, permission, seen, kind) => {
    const ran = await run({ calls: [pay(2)] }, (guard) => governQuery(guard, { canUseTool: says(permission) }));
    expect(ran.seen).toEqual([seen]);
    expect(ran.outcomes.at(-1)).toBe(kind);
  });

  test.each<[string, string, object]>([
    ['without `canUseTool`', 'default', {}],
    ['in a mode that answers by itself', 'bypassPermissions', { canUseTool: says({ behavior: 'allow' }) }],
    ['where Holdfast asks', 'default', { canUseTool: says({ behavior: 'allow' }), asks: 'holdfast' }],
  ])('an ask is a denial %s', async (_, mode, options) => {
    const { seen } = await run({ calls: [pay(2)], mode }, (guard) => governQuery(guard, options as never));
    expect(seen).toEqual([{ no: expect.stringContaining('A person has to approve this in Holdfast first') }]);
  });

  test('a Claude Code that lets a call through when a hook fails is refused', async () => {
    const script = { calls: [pay(3)], supportsBlock: false };
    await expect(run(script, (guard) => governQuery(guard))).rejects.toThrow('does not honor onFailure');
  });
});

test("the adapter fits the SDK's own types", () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  expect(stdout).toBe('');
});
