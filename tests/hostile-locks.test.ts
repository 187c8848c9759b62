import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHoldfastError, type Json, toCanonicalJson } from '@holdfast/core';
import { compareLock, type LoadedTools, loadTools } from '@holdfast/loader';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { metadataFile } from './hostile-tool-files.ts';

let root = '';
let [lock, registry] = ['', ''];
let [lockText, registryText] = ['', ''];
let clean: readonly string[] = [];

const load = (): Promise<LoadedTools> => loadTools(join(root, 'plugins'), { lock, isolation: 'in-process' });

/** What a host and a model see of each tool. */
function show({ tools }: LoadedTools): readonly string[] {
  return tools.map(({ name, description, dangerous, effects, inputSchema, origin }) =>
    toCanonicalJson(JSON.parse(JSON.stringify([name, description, dangerous, effects, inputSchema, origin])) as Json),
  );
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-locks-'));
  [lock, registry] = [join(root, 'holdfast.lock'), join(root, '.holdfast/registry.json')];
  mkdirSync(join(root, 'plugins'));
  writeFileSync(join(root, 'word.mjs'), "export const word = 'good';\n");
  writeFileSync(join(root, 'plugins/a.mjs'), `import '../word.mjs';\n${metadataFile('first', {})}`);
  writeFileSync(join(root, 'plugins/b.mjs'), metadataFile('second', { dangerous: 'true' }));
  await (await compareLock(join(root, 'plugins'), { lock })).accept();
  clean = show(await load());
  [lockText, registryText] = [readFileSync(lock, 'utf8'), readFileSync(registry, 'utf8')];
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A text with something cut out, put in or put in the place of something else. */
function damaged(text: string): fc.Arbitrary<string> {
  const place = fc.nat({ max: text.length });
  const pieces = [
    '"',
    '}',
    '{',
    ',',
    '0',
    'a',
    '../',
    '\\u0061',
    'true',
    'null',
    '"__proto__": {},',
    '"version": 1,',
    '',
  ];
  return fc
    .tuple(place, fc.constantFrom(...pieces), fc.constantFrom(0, 0, 1, 20, text.length))
    .map(([at, piece, length]) => text.slice(0, at) + piece + text.slice(at + length));
}

test('whatever has become of the registry, the tools are those that are locked', async () => {
  await fc.assert(
    fc.asyncProperty(damaged(registryText), async (text) => {
      writeFileSync(registry, text);
      const loaded = await load();
      expect(show(loaded)).toEqual(clean);
      expect(loaded.diagnostics).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('whatever has become of the lock, nothing loads but what is as it was locked', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      damaged(lockText),
      fc.oneof(fc.constant(registryText), damaged(registryText)),
      async (text, other) => {
        writeFileSync(lock, text);
        writeFileSync(registry, other);
        try {
          const loaded = await load();
          for (const tool of show(loaded)) expect(clean).toContain(tool);
          if (loaded.tools.length < clean.length) expect(loaded.diagnostics).not.toEqual([]);
        } catch (thrown) {
          if (!isHoldfastError(thrown)) throw thrown;
          expect(thrown.code).toMatch(/^tools\.lock\./);
          refused += 1;
        }
      },
    ),
    { numRuns: 200 },
  );
  expect(refused).toBeGreaterThan(0);
});
