import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isPack } from '@holdfast/core';
import { type PackCases, type PackManifest, packTester } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';

const names = ['filesystem', 'shell', 'network', 'budgets', 'approvals', 'release'];

for (const name of names) {
  const file = new URL(`./packs/${name}-cases.ts`, import.meta.url);
  if (!existsSync(file)) continue;
  const { cases } = (await import(file.href)) as { readonly cases: PackCases };
  const [pack, ...more] = Object.values((await import(`@holdfast/pack-${name}`)) as object).filter(isPack);
  const manifest = JSON.parse(
    await readFile(new URL(`../packages/pack-${name}/package.json`, import.meta.url), 'utf8'),
  ) as PackManifest;

  describe(`the pack ${name}`, () => {
    test('is the one that its package has', () => {
      expect(pack?.type).toBe('pack');
      expect(more).toEqual([]);
    });
    if (pack === undefined) return;
    for (const { name: sentence, skipped, run } of packTester(pack, cases, { manifest })) {
      test.skipIf(skipped !== undefined)(sentence, run);
    }
  });
}
