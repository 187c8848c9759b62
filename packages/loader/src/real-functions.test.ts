import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scanFolder } from './scan-folder.ts';

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

// The table by which definitions as models are offered them become tool files. Other words for types stay as they are.
const types: ReadonlyMap<unknown, string> = new Map([
  ['dict', 'object'],
  ['float', 'number'],
  ['tuple', 'array'],
]);

function toSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toSchema);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === 'type' ? (types.get(value) ?? value) : key === 'default' ? value : toSchema(value),
    ]),
  );
}

/** Other characters of a name become `_`, capitals small letters. */
function toToolFile({ name, description, parameters }: Definition): string {
  const metadata = {
    name: name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '_'),
    function: 'work',
    description,
    dangerous: false,
    parameters: toSchema(parameters),
  };
  return `export const METADATA = ${JSON.stringify(metadata, null, 2)};\nexport function work(input) {}\n`;
}

/** How many load, and for how many each code is the first reason. */
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
      const reason = diagnostics.find((one) => one.file === file && one.severity === 'error')?.code ?? 'no reason';
      counts[reason] = (counts[reason] ?? 0) + 1;
    }
    return counts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const object = (properties: object): Record<string, unknown> => ({ type: 'dict', properties });

test('each kind of definition loads, or is refused for its true reason', async () => {
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
  ]);
  expect(counts).toEqual({
    loaded: 2,
    'tool.name.duplicate': 2,
    'tool.schema.invalid': 3,
    'tool.schema.vague': 1,
    'tool.schema.default': 1,
  });
});

const data = fileURLToPath(new URL('../../../../shared/data/functions.jsonl', import.meta.url));

test.skipIf(!existsSync(data))(
  '1,057 real function definitions',
  async () => {
    const lines = readFileSync(data, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    const counts = await load(lines.map((line) => JSON.parse(line) as Definition));
    // The names were never meant to stand in one folder: most refusals are duplicates. The rest have types that are none
    // (`any`, `String`, `HashMap`), arrays without items, objects that nothing fits, or defaults of another type.
    expect(counts).toEqual({
      loaded: 508,
      'tool.name.duplicate': 359,
      'tool.name.twin': 1,
      'tool.schema.invalid': 141,
      'tool.schema.default': 39,
      'tool.schema.vague': 9,
    });
  },
  60_000,
);
