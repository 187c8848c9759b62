import type { Json } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, decideCall, lax, preset } from './fixtures.ts';
import { brokenScript, deniedCommand, scriptsAround } from './test-scripts.ts';

test('a denied command, hidden anywhere in a script, never runs', async () => {
  await fc.assert(
    fc.asyncProperty(scriptsAround(deniedCommand, 4), async (script) => {
      expect(await decide(preset('recommended'), script)).not.toEqual({ type: 'allow' });
      expect(await decide(preset('strict'), script)).toMatchObject({ type: 'deny' });
      // What is not named is allowed, so that only finding the command refuses it.
      expect(await decide(lax, script)).not.toEqual({ type: 'allow' });
    }),
    { numRuns: 170 },
  );
});

test('the same scripts run around a command that may', async () => {
  const harmless = fc.constantFrom('ls -l', '/bin/ls a', "l''s", '"cat" a');
  let allowed = 0;
  await fc.assert(
    fc.asyncProperty(scriptsAround(harmless, 3), async (script) => {
      if ((await decide(lax, script)).type === 'allow') allowed += 1;
      else expect(await decide(lax, script)).toMatchObject({ type: 'ask' });
    }),
    { numRuns: 80 },
  );
  // The others have quotes within quotes, or an end of a here-document in another one.
  expect(allowed).toBeGreaterThan(50);
});

test('whatever the text, there is an answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(brokenScript, fc.string({ unit: 'binary', maxLength: 60 })), async (script) => {
      const strict = await decide(preset('strict'), script);
      const open = await decide(lax, script);
      expect(['allow', 'deny']).toContain(strict.type);
      if (strict.type === 'allow') expect(open).toEqual({ type: 'allow' });
    }),
    { numRuns: 500 },
  );
});

test('whatever the arguments, there is an answer, and only a text or a list of words is one that runs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const input = value as Json;
      const [plain, wrapped] = [await decideCall(preset('strict'), input), await decide(preset('strict'), input)];
      expect(plain).toMatchObject({ type: 'deny' });
      const isCommand = typeof input === 'string' || Array.isArray(input);
      expect(isCommand || wrapped.type === 'deny').toBe(true);
    }),
  );
});
