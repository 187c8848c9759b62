import { readFileSync } from 'node:fs';
import type { JsonObject } from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkUserRules, checkWorkspaceConfig } from './schema.ts';

const published = JSON.parse(readFileSync(new URL('../../schemas/policy.json', import.meta.url), 'utf8')) as JsonObject;
const compiled = compileSchema(jsonSchema(published));

// The patterns of files that can be matched, and near misses of class names, are more than a schema can say.
const beyondSchema = /a pattern of files|is a misspelled|reserved word/;

const words = fc.oneof(
  fc.constantFrom(
    'secrets',
    'secret',
    'outside',
    'self-running',
    'destructive',
    'src/**',
    '**/a/**/b',
    '../x',
    '',
    ' ',
    '[a',
  ),
  fc.constantFrom(
    'git push --force',
    '-x',
    'git  push',
    'git push ',
    'rm\n-r',
    'example.org',
    '*.example.org',
    '*',
    '[::1]',
    'a_b.c',
    'A.b',
  ),
  fc.string({ maxLength: 12 }),
  fc.string({ minLength: 199, maxLength: 202 }),
);
const anything = fc.oneof(
  words,
  fc.constantFrom(null, 1, 0, -1, 1.5, true, 'sandbox', 'worker', 'to_string', 'constructor'),
  fc.constant([]),
  fc.constant({}),
);
const keys = fc.constantFrom('reads', 'writes', 'deletes', 'runs', 'reaches', 'sends');
const rule = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(keys, words).map((pair) => Object.fromEntries([pair])) },
  { weight: 1, arbitrary: fc.dictionary(fc.oneof(keys, fc.constant('read')), anything, { maxKeys: 2 }) },
  { weight: 1, arbitrary: anything },
);
const rules = fc.oneof({ weight: 6, arbitrary: fc.array(rule, { maxLength: 2 }) }, { weight: 1, arbitrary: anything });
const rulesFile = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        deny: rules,
        ask: rules,
        allow: rules,
        checks: fc.array(words, { maxLength: 2 }),
        checkpoints: fc.boolean(),
        store: fc.constantFrom('postgres://host/name', 'postgresql://a', '/var/a.db', 'C:\\a.db'),
        $schema: words,
      },
      { requiredKeys: [] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom('deny', 'asks', 'allow', 'checks', 'checkpoints', 'store', '$schema'),
      anything,
    ),
  },
  { weight: 1, arbitrary: anything },
);
const mostly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 15, arbitrary: right }, { weight: 1, arbitrary: anything });
const listOf = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => mostly(fc.array(mostly(item), { maxLength: 2 }));
const name = fc.constantFrom('push', 'a-b_1', 'x'.repeat(64), 'shell-guard');
const count = mostly(fc.constantFrom(1, 500, 2 ** 53 - 1));
const use = fc.record(
  { pack: mostly(name), preset: mostly(name), config: mostly(fc.constant({ a: [1] })), observe: mostly(fc.boolean()) },
  { requiredKeys: [] },
);
const workspaceFile = fc.record(
  {
    deny: rules,
    packs: listOf(fc.oneof(name, use)),
    locked: mostly(fc.boolean()),
    isolation: mostly(fc.constantFrom('sandbox', 'in-process')),
    allowTools: listOf(name),
    denyTools: listOf(name),
    limits: mostly(fc.record({ maxRounds: count, maxCalls: count, timeoutMs: count }, { requiredKeys: [] })),
    $schema: mostly(name),
  },
  { requiredKeys: [] },
);

test.each([
  ['of the user', rulesFile, checkUserRules],
  ['of a workspace', workspaceFile, checkWorkspaceConfig],
])(
  'the published schema and the parser agree on a file %s, but for what only the parser can tell',
  (_, files, check) => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(files as fc.Arbitrary<unknown>, (file) => {
        const parsed = check(file);
        const { ok: valid } = compiled.validate(file);
        if (parsed.ok) expect(valid).toBe(true);
        else if (valid)
          expect(parsed.problems.map(({ message }) => message)).toSatisfy((all: string[]) =>
            all.every((one) => beyondSchema.test(one)),
          );
        seen[parsed.ok ? 'taken' : 'refused'] += 1;
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100);
  },
);
