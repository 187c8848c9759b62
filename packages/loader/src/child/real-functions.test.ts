import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { scanFolder } from '../scan/folder.ts';

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

// Maps the types of function definitions from other datasets to JSON Schema types; others are kept.
const types: ReadonlyMap<unknown, string> = new Map([
  ['dict', 'object'],
  ['float', 'number'],
  ['tuple', 'array'],
]);

// Keys of these objects are names, even `type` and `default`.
const maps: readonly string[] = ['properties', 'patternProperties', '$defs'];

function toSchema(node: unknown, isMap = false): unknown {
  if (Array.isArray(node)) return node.map((one) => toSchema(one));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, isMap ? toSchema(value) : toMember(key, value)]),
  );
}

function toMember(key: string, value: unknown): unknown {
  if (key === 'type') return types.get(value) ?? value;
  return key === 'default' || key === 'enum' ? value : toSchema(value, maps.includes(key));
}

/** Invalid characters of a name become `_`, capitals lower case. */
function toName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '_');
}

function toToolFile({ name, description, parameters }: Definition): string {
  const metadata = {
    name: toName(name),
    function: 'work',
    description,
    dangerous: false,
    parameters: toSchema(parameters),
  };
  return `export const METADATA = ${JSON.stringify(metadata, null, 2)};\nexport function work(input) {}\n`;
}

/** The number that load, and for the rest the count of each first error code. */
async function load(definitions: readonly Definition[]): Promise<Readonly<Record<string, number>>> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-functions-'));
  try {
    for (const [index, definition] of definitions.entries()) {
      writeFileSync(join(folder, `${String(index).padStart(5, '0')}.mjs`), toToolFile(definition));
    }
    const { files, diagnostics } = await scanFolder(folder);
    const counts: Record<string, number> = { loaded: files.filter(({ type }) => type === 'tool').length };
    for (const { file, type } of files) {
      if (type === 'tool') continue;
      const found = diagnostics.find((one) => one.file === file && one.severity === 'error');
      const reason = found === undefined ? 'no reason' : describeCode(found);
      counts[reason] = (counts[reason] ?? 0) + 1;
    }
    return counts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Folders without name conflicts: the n-th definition of a name goes into the n-th folder. */
function spread(definitions: readonly Definition[]): readonly (readonly Definition[])[] {
  const named = Map.groupBy(definitions, ({ name }) => toName(name).replace(/[_-]/g, ''));
  const folders: Definition[][] = [];
  for (const alike of named.values()) {
    for (const [index, definition] of alike.entries()) {
      const folder = folders[index] ?? [];
      folders[index] = folder;
      folder.push(definition);
    }
  }
  return folders;
}

const object = (properties: object): Record<string, unknown> => ({ type: 'dict', properties });

test('each kind of definition loads, or is refused for the right reason', async () => {
  const counts = await load([
    { name: 'Math.Factorial', description: 'Factorial.', parameters: object({ number: { type: 'integer' } }) },
    {
      name: 'area',
      description: 'Area.',
      parameters: object({ base: { type: 'float', default: 1 }, at: { type: 'tuple', items: { type: 'float' } } }),
    },
    { name: 'find.x', description: 'One.', parameters: object({ x: { type: 'string' } }) },
    { name: 'find_x', description: 'Two.', parameters: object({ x: { type: 'string' } }) },
    { name: 'anything', description: 'Any.', parameters: object({ x: { type: 'any' } }) },
    { name: 'java', description: 'Java.', parameters: object({ x: { type: 'HashMap' } }) },
    { name: 'untyped', description: 'Free object.', parameters: object({ x: { type: 'dict' } }) },
    { name: 'pairs', description: 'No items.', parameters: object({ x: { type: 'array' } }) },
    { name: 'unset', description: 'Wrong default.', parameters: object({ x: { type: 'integer', default: 'None' } }) },
    {
      name: 'words',
      description: 'Names.',
      parameters: object({ type: { type: 'float' }, default: { type: 'float' } }),
    },
  ]);
  expect(counts).toEqual({
    loaded: 3,
    'tool.invalid: name.duplicate': 2,
    'tool.schema.invalid': 3,
    'tool.schema.vague': 1,
    'tool.schema.invalid: default': 1,
  });
});

const data = fileURLToPath(new URL('../../../../../shared/data/functions.jsonl', import.meta.url));

function readData(): readonly Definition[] {
  const lines = readFileSync(data, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Definition);
}

test.skipIf(!existsSync(data))(
  '1,057 real function definitions, in folders without name conflicts',
  async () => {
    const definitions = readData();
    expect(new Set(definitions.map(({ name }) => toName(name))).size).toBe(818);
    const counts: Record<string, number> = {};
    for (const folder of spread(definitions)) {
      for (const [what, count] of Object.entries(await load(folder))) counts[what] = (counts[what] ?? 0) + count;
    }
    // Foreign types (`any`, `String`, `HashMap`, `""`), defaults of another type (mostly null), and objects without
    // properties, which accept only `{}` because objects are closed by default.
    expect(counts).toEqual({
      loaded: 868,
      'tool.schema.invalid': 141,
      'tool.schema.invalid: default': 39,
      'tool.schema.vague': 9,
    });
  },
  120_000,
);

test.skipIf(!existsSync(data))(
  'the same in one folder, where 397 of them share 158 names',
  async () => {
    // Definitions refused for other reasons do not conflict.
    expect(await load(readData())).toEqual({
      loaded: 508,
      'tool.invalid: name.duplicate': 359,
      'tool.metadata.invalid: name.twin': 1,
      'tool.schema.invalid': 141,
      'tool.schema.invalid: default': 39,
      'tool.schema.vague': 9,
    });
  },
  60_000,
);
