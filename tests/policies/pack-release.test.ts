import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, type JsonObject, toolError } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, fileFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { releaseOrder } from '@holdfast/pack-release';
import { type PackOptions, packPolicies } from '@holdfast/policy';
import { createSession, type Session } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bash } from './packs/release-cases.ts';

/** Tests and then fails, so that what happened within it is undone. */
const tryOut = defineTool({
  name: 'try_out',
  description: 'Test, and fail all the same.',
  effects: 'external',
  async execute(_input, context) {
    const { kind } = await context.call('bash', { command: 'npm test' });
    return kind === 'ok' ? toolError('It fails after its test.') : null;
  },
});

const commands: ReadonlyMap<string, string> = new Map([
  ['test', 'npm test'],
  ['lint', 'make lint'],
  ['deploy', 'make deploy'],
]);
const view = { folder: '/w', workspace: '/w', disk: memoryDisk({ '/w/package.json': '{}' }) };
const facts = createFacts({ describers: [shellFacts(), fileFacts()], view });

interface World {
  readonly session?: Session;
  readonly filesystem?: unknown;
  readonly options?: PackOptions;
}

function createWorld({
  session = createSession(),
  filesystem = memoryFilesystem({ 'a.txt': 'old' }),
  options = { config: { order: { 'make deploy': ['npm test'] } } },
}: World = {}) {
  const shared = {
    session,
    tools: [...fileTools(), bash, tryOut],
    facts,
    policies: packPolicies(releaseOrder, options),
    resources: { filesystem },
  };
  return async (name: string, input: JsonObject = {}): Promise<string> => {
    const command = commands.get(name);
    const call = command === undefined ? { name, arguments: input } : { name: 'bash', arguments: { ...input, command } };
    const outcome = await executeToolCall(call, shared);
    return outcome.kind;
  };
}

test('E11: deploy before its test has succeeded', async () => {
  expect(await createWorld()('deploy')).toBe('denied');
});

test('E11: deploy after its test has failed', async () => {
  const call = createWorld();
  expect([await call('test', { fails: true }), await call('deploy')]).toEqual(['failed', 'denied']);
});

test('E11: deploy after its test, and a reset of the session', async () => {
  const session = createSession();
  const call = createWorld({ session });
  expect([await call('test'), await call('deploy')]).toEqual(['ok', 'ok']);
  session.reset();
  expect(await call('deploy')).toBe('denied');
});

test('E11: deploy after its test in a call that was undone', async () => {
  for (const options of [{}, { config: { order: { 'make deploy': ['npm test'] } } }]) {
    const call = createWorld({ options });
    expect([await call('try_out'), await call('deploy')]).toEqual(['failed', 'denied']);
  }
});

test('E13: one file by any of its names, and by a hard link', async () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-release-'));
  try {
    mkdirSync(join(root, 'docs'));
    writeFileSync(join(root, 'a.txt'), 'old');
    symlinkSync('a.txt', join(root, 'link.txt'));
    linkSync(join(root, 'a.txt'), join(root, 'hard.txt'));
    const write = (path: string) => ['write_file', { path, content: 'new' }] as const;
    for (const path of ['a.txt', './a.txt', 'docs/../a.txt', 'link.txt', 'hard.txt']) {
      const call = createWorld({ filesystem: hostFilesystem(root) });
      expect({ path, kind: await call(...write(path)) }).toEqual({ path, kind: 'denied' });
    }
    const call = createWorld({ filesystem: hostFilesystem(root) });
    expect(await call('read_file', { path: 'link.txt' })).toBe('ok');
    // A hard link has a name of its own: it has to be read by that.
    expect(await call(...write('hard.txt'))).toBe('denied');
    for (const path of ['./a.txt', 'link.txt', 'docs/../a.txt']) {
      expect({ path, kind: await call(...write(path)) }).toEqual({ path, kind: 'ok' });
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test('E17: what one session has read and tested is nothing to another', async () => {
  const filesystem = memoryFilesystem({ 'a.txt': 'old' });
  const [one, other] = [createWorld({ filesystem }), createWorld({ filesystem })];
  expect([await one('read_file', { path: 'a.txt' }), await one('test')]).toEqual(['ok', 'ok']);
  expect(await other('write_file', { path: 'a.txt', content: 'new' })).toBe('denied');
  expect(await other('deploy')).toBe('denied');
});

const step = fc.constantFrom('test', 'test fails', 'lint', 'write', 'read', 'deploy', 'reset');

test('deploy runs only when every check has succeeded since the last change, whatever came before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const session = createSession();
      const call = createWorld({ session, options: { config: { order: { 'make deploy': ['npm test', 'make lint'] } } } });
      const good = new Set<string>();
      for (const [index, taken] of steps.entries()) {
        switch (taken) {
          case 'test':
          case 'lint':
            expect(await call(taken)).toBe('ok');
            good.add(taken);
            break;
          case 'test fails':
            expect(await call('test', { fails: true })).toBe('failed');
            break;
          case 'write':
            expect(await call('write_file', { path: `${index}.txt`, content: '' })).toBe('ok');
            good.clear();
            break;
          case 'read':
            expect(await call('read_file', { path: 'a.txt' })).toBe('ok');
            break;
          case 'reset':
            session.reset();
            good.clear();
            break;
          case 'deploy':
            expect(await call('deploy')).toBe(good.size === 2 ? 'ok' : 'denied');
        }
      }
    }),
    { numRuns: 100 },
  );
});
