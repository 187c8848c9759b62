import { describeCommand } from '@holdfast/facts';
import fc from 'fast-check';
import { afterAll, expect, inject, test } from 'vitest';
import { CanaryFolder } from './canary.ts';
import { folder } from './folder.ts';
import { brokenScript, changedScript, readingScript } from './scripts.ts';

const runs = inject('long') > 0 ? Math.ceil(10_000 * inject('long')) : 60;
const canary = new CanaryFolder();
afterAll(() => canary.remove());

test('a secret that is read is noticed', () => {
  expect(canary.notesReads()).toBe(true);
});

const scripts = { 'reads the secret': readingScript, 'is changed a little': changedScript, 'is broken': brokenScript };

test.each(Object.entries(scripts))('whatever is let through of a script that %s never reads it', (_, arbitrary) => {
  let ran = 0;
  fc.assert(
    fc.property(arbitrary, fc.constantFrom('bash' as const, 'dash' as const), (script, shell) => {
      const tried = canary.try(script, shell);
      if (tried === 'not-read') ran += 1;
      expect(tried).not.toBe('read');
    }),
    { numRuns: runs },
  );
  expect(ran).toBeGreaterThan(0);
});

test('whatever the text and the disk, there are facts, the same each time', () => {
  const { disk, ...bare } = folder;
  fc.assert(
    fc.property(
      fc.oneof(brokenScript, changedScript, fc.string({ unit: 'binary', maxLength: 60 })),
      fc.boolean(),
      (script, hasDisk) => {
        const view = hasDisk ? { ...bare, ...(disk === undefined ? {} : { disk }) } : bare;
        expect(describeCommand(script, view)).toEqual(describeCommand(script, view));
      },
    ),
    { numRuns: runs * 5 },
  );
});
