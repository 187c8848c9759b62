// Tools in other languages: a program with a .tool.json file, and a Python file with METADATA. They are checked, locked and
// called like any other. Without Python its file is skipped with a diagnostic.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { executeToolCall } from '@holdfast/executor';
import { compareLock, loadTools } from '@holdfast/loader';
import { python } from '@holdfast/loader-python';
import { createSession } from '@holdfast/session';

const project = await mkdtemp(join(tmpdir(), 'holdfast-another-language-'));
const folder = join(project, 'tools');
const lock = join(project, 'holdfast.lock');
await cp(fileURLToPath(new URL('other-languages', import.meta.url)), folder, { recursive: true });
// Without the language the file is skipped with the diagnostic `tool.language.missing`.
const options = { lock, languages: [python()] };
await (await compareLock(folder, options)).accept();

const { tools, diagnostics, close } = await loadTools(folder, options);
const session = createSession();
try {
  // A shell script that reads arguments from standard input and writes its result to standard output.
  const machine = await executeToolCall({ name: 'machine', arguments: {} }, { tools, session });
  assert(machine.kind === 'ok');
  console.log(`machine: ${machine.text}`);

  if (diagnostics.some(({ code }) => code === 'tool.process.not_started')) {
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['machine'],
    );
    console.log('Python is not installed: median.py was skipped.');
  } else {
    assert.deepEqual(diagnostics, []);
    const call = { name: 'median', arguments: { text: '4, 1, 3.5' } };
    const median = await executeToolCall(call, { tools, session });
    assert(median.kind === 'ok');
    assert.deepEqual(median.value, { count: 3, median: 3.5 });
    console.log(`median: ${median.text}`);

    // An exception fails the call; the model receives its message without the traceback.
    const failed = await executeToolCall({ name: 'median', arguments: { text: 'one, two' } }, { tools, session });
    assert(failed.kind === 'failed');
    assert.match(failed.text, /^ValueError: only numbers, parted by commas: could not convert string to float: 'one'/);

    // An imported module was swapped: the locked version runs.
    await writeFile(join(folder, '_numbers.py'), 'raise SystemExit("not this one")\n');
    const swapped = await executeToolCall(call, { tools, session });
    assert(swapped.kind === 'ok');
    const again = await loadTools(folder, options);
    assert.equal(again.diagnostics[0]?.code, 'lock.changed');
    await again.close();
    console.log(`swapped: ${again.diagnostics[0].message}`);
  }
} finally {
  await close();
  await rm(project, { recursive: true, force: true });
}
