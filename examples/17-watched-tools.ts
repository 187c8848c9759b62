// A folder of tool files in development: its tools are replaced atomically, a call finishes with the version that it started
// with, and a broken file keeps its last working tool.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executeToolCall } from '@holdfast/executor';
import { type ToolReload, watchTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';

const project = await mkdtemp(join(tmpdir(), 'holdfast-watched-tools-'));
const folder = join(project, 'plugins');
const session = createSession();

const save = (greeting: string): Promise<void> =>
  writeFile(
    join(folder, 'greet.mjs'),
    `export const METADATA = {
  name: 'greet', function: 'greet', description: 'Greet a person.', dangerous: false,
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};
export const greet = ({ name }) => \`${greeting} \${name}\`;
`,
  );

await mkdir(folder);
await save('Hello');
let told = (_reload: ToolReload): void => undefined;
/** Waits for a reload that matches: a file may be read while it is being written. */
const nextReload = (isWanted: (reload: ToolReload) => boolean): Promise<void> =>
  new Promise((resolve) => {
    told = (reload) => {
      if (isWanted(reload)) resolve();
    };
  });
const watched = await watchTools(folder, { onReload: (reload) => told(reload) });

async function greet(tools = watched.tools): Promise<unknown> {
  const outcome = await executeToolCall({ name: 'greet', arguments: { name: 'Ada' } }, { tools, session });
  assert(outcome.kind === 'ok', outcome.kind);
  return outcome.value;
}

try {
  const first = watched.tools;
  assert.equal(await greet(), 'Hello Ada');

  // Saved: the next run reads `watched.tools` again. A running one keeps its tools.
  let reload = nextReload(({ changed }) => changed.includes('greet'));
  await save('Good morning,');
  await reload;
  assert.equal(await greet(), 'Good morning, Ada');
  assert.equal(await greet(first), 'Hello Ada');

  // Half a file: the old tool stays, and the diagnostics say why.
  reload = nextReload(({ kept }) => kept.includes('greet'));
  await writeFile(join(folder, 'greet.mjs'), 'export const METADATA = {');
  await reload;
  assert.equal(await greet(), 'Good morning, Ada');
  assert(watched.diagnostics.some(({ code }) => code === 'tool.watch.failed'));

  // If the system does not report changes, as on many network drives, reload explicitly.
  await rm(join(folder, 'greet.mjs'));
  await watched.reload();
  assert.deepEqual(watched.tools, []);
} finally {
  await watched.close();
  await rm(project, { recursive: true });
}

console.log('three versions, one of them incomplete, and no restart');
