import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, runNode } from '../documents/documents.ts';

const runner = fileURLToPath(new URL('../../examples/run-all.ts', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'holdfast-merchant-'));

// Says the same whatever it is asked, and sells nothing.
const stubborn = `const text = '[[ ## response ## ]]\\nI am closed.\\n\\n[[ ## completed ## ]]';
export default {
  id: 'test:stubborn',
  async *stream() {
    yield { type: 'text-delta', text };
    yield { type: 'finish', reason: 'stop' } as const;
  },
};
`;

beforeAll(async () => {
  await writeFile(join(folder, 'stubborn.ts'), stubborn);
  await writeFile(join(folder, 'none.mjs'), 'export default { name: "not a model" };\n');
  await writeFile(join(folder, 'broken.mjs'), 'export default {\n');
});

afterAll(() => rm(folder, { recursive: true }));

/** As `npm run examples -- 22 …` does it for a user in the folder. */
function runMerchant(...words: readonly string[]): Promise<Ended> {
  return runNode(['--conditions=holdfast-source', runner, '22', ...words], { cwd: folder });
}

test('any model plays the merchant', async () => {
  const { status, output } = await runMerchant('--model', 'stubborn.ts');
  expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining('I am closed.') });
});

test.each([
  ['none.mjs', '`none.mjs` has no model as its default export: expected an object with `id` and `stream`'],
  ['broken.mjs', '`broken.mjs` cannot be imported: '],
  ['missing.mjs', '`missing.mjs` cannot be imported: '],
])('%s is not a model, and the error says so', async (file, message) => {
  const { status, output } = await runMerchant('--model', file);
  expect({ status, output }).toEqual({ status: 2, output: expect.stringContaining(message) });
  expect(output.trim().split('\n')).toHaveLength(1);
});

test('an example that is not there is named', async () => {
  const { status, output } = await runNode(['--conditions=holdfast-source', runner, '99'], { cwd: folder });
  expect({ status, output }).toEqual({ status: 2, output: expect.stringContaining('There is no example `99`') });
});
