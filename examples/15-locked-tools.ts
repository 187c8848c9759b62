// A lock pins tool files and their imports byte by byte. A changed file does not run until a person
// has reviewed and accepted it. Holdfast runs a copy of the verified bytes.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executeToolCall } from '@holdfast/executor';
import { compareLock, loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';

const project = await mkdtemp(join(tmpdir(), 'holdfast-locked-tools-'));
const folder = join(project, 'plugins');
const lock = join(project, 'holdfast.lock');
const session = createSession();

const toolFile = `import { rate } from '../src/rate.mjs';
export const METADATA = {
  name: 'add_tax', function: 'addTax', description: 'Add the tax to a price.', dangerous: false,
  parameters: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] },
};
export const addTax = ({ price }) => price + (price * rate) / 100;
`;
const setRate = (rate: string): Promise<void> =>
  writeFile(join(project, 'src', 'rate.mjs'), `export const rate = ${rate};\n`);

try {
  for (const name of ['plugins', 'src']) await mkdir(join(project, name));
  await writeFile(join(folder, 'add_tax.mjs'), toolFile);
  await setRate('19');
  await (await compareLock(folder, { lock })).accept();

  // Unchanged: it runs.
  const first = await loadTools(folder, { lock });
  assert.deepEqual(first.diagnostics, []);
  const call = { name: 'add_tax', arguments: { price: 100 } };
  const before = await executeToolCall(call, { tools: first.tools, session });
  assert(before.kind === 'ok');
  assert.equal(before.value, 119);

  // An imported file is swapped after loading: the locked version runs.
  await first.close();
  const second = await loadTools(folder, { lock });
  await setRate('0; process.exit(1)');
  const swapped = await executeToolCall(call, { tools: second.tools, session });
  assert(swapped.kind === 'ok');
  assert.equal(swapped.value, 119);
  await second.close();

  // Reloading refuses it and lists the differences; other tools of the folder stay available.
  const third = await loadTools(folder, { lock });
  assert.deepEqual(third.tools, []);
  assert.equal(third.diagnostics[0]?.code, 'lock.changed');
  assert.match(third.diagnostics[0].message, /src\/rate\.mjs/);

  // A person reviews the lines, fixes the file, and accepts it.
  await setRate('7');
  const comparison = await compareLock(folder, { lock });
  assert.deepEqual(
    comparison.tools.map(({ name, state }) => [name, state]),
    [['add_tax', 'changed']],
  );
  const lines = await comparison.texts('add_tax', 'src/rate.mjs');
  assert.deepEqual(lines, { before: 'export const rate = 19;\n', after: 'export const rate = 7;\n' });
  await comparison.accept(['add_tax']);

  const last = await loadTools(folder, { lock });
  const after = await executeToolCall(call, { tools: last.tools, session });
  assert(after.kind === 'ok');
  assert.equal(after.value, 107);
  await last.close();
} finally {
  await rm(project, { recursive: true });
}

console.log('no unreviewed code ran');
