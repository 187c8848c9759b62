import type { Json } from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import { keeps, makeNotes, mustThrow, type StoreCheck, same } from './check.ts';

/** Checks that records read back, and that invalid ones leave no trace. */
export const keepingChecks: readonly StoreCheck[] = [
  {
    name: 'records come back in order, numbered from 0 without a gap',
    run: async (test) => keeps(test, makeNotes(200)),
  },
  {
    name: 'an empty store has no records',
    run: async (test) => keeps(test, []),
  },
  ...Object.entries({
    'text of any script, control characters, half surrogates': [
      'größe 漢字 🧵 e\u0301',
      '\u0000\u0001\u007f\u2028\u2029\n\r\t"\\/',
      '\ud800',
      'a\udc00b',
      '',
    ],
    'numbers at the edges': [0, -1, 0.1, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE],
    'keys that mean something to JavaScript': [
      JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "toString": null, "": 2, "10": 3, "9": 4}') as Json,
    ],
    'empty and mixed collections': [[], {}, [[], {}, null, false, [null]]],
    'a value 500 levels deep': [nest(500)],
    'a record of two megabytes': ['größe '.repeat(300_000)],
  } satisfies Record<string, readonly Json[]>).map(
    ([what, values]): StoreCheck => ({
      name: `JSON reads back unchanged: ${what}`,
      run: async (test) =>
        keeps(
          test,
          values.map((value) => ({ type: 'note', value })),
        ),
    }),
  ),
  {
    name: 'an own field `__proto__` is stored as a field',
    run: async (test) => keeps(test, [JSON.parse('{"type": "note", "__proto__": {"type": "other"}}') as LogEntry]),
  },
  {
    name: 'the `atMs` of an entry is the time of its record',
    run: async (test) => keeps(test, [{ type: 'note', atMs: 5 }]),
  },
  {
    name: 'an entry is not modified',
    run: async (test) => {
      const entry = { type: 'note', value: { list: [1] } };
      const before = JSON.stringify(entry);
      await keeps(test, [entry, entry]);
      same('the entry afterwards', JSON.stringify(entry), before);
    },
  },
  {
    name: 'an entry that is not JSON is rejected without a trace',
    needs: ['text'],
    run: async (test) => {
      const first = { type: 'note', value: 1 };
      test.store.append(first, 0, 1_000);
      const cycle: Record<string, unknown> = { type: 'note' };
      cycle['self'] = cycle;
      for (const [what, entry] of Object.entries({ 'a bigint': { type: 'note', value: 1n }, 'a cycle': cycle })) {
        // Breaks the type on purpose, as unchecked code of a host might.
        mustThrow(`an entry with ${what}`, () => test.store.append(entry as unknown as LogEntry, 1, 1_001));
      }
      await keeps(test, [{ type: 'note', value: 2 }], [{ seq: 0, atMs: 1_000, ...first }]);
    },
  },
  {
    name: 'a record out of sequence is rejected without a trace',
    run: async (test) => {
      const first = { type: 'note', value: 1 };
      test.store.append(first, 0, 1_000);
      mustThrow('a second record 0', () => test.store.append({ type: 'note' }, 0, 1_001));
      mustThrow('a record 2 after record 0', () => test.store.append({ type: 'note' }, 2, 1_001));
      await keeps(test, [{ type: 'note', value: 2 }], [{ seq: 0, atMs: 1_000, ...first }]);
    },
  },
];

function nest(levels: number): Json {
  let value: Json = 'deep';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}
