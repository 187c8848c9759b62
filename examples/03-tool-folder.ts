// Tools from a folder of plain files. Metadata is read without running them, each runs in its own process, and the
// offline model, a set of rules and not an LLM, chooses among tools that it has never seen.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { offlineModel } from '@holdfast/adapter-offline';
import { runAgent } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { loadTools } from '@holdfast/loader';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';

const { tools, diagnostics, close } = await loadTools(fileURLToPath(new URL('plugins', import.meta.url)));
assert.deepEqual(diagnostics, []);

const prompt = createPrompt({
  ns: 'examples/folder',
  key: 'overview',
  sections: [
    markdownSection({ title: 'Workspace', template: 'Work in the folder that you are given.', tools: fileTools() }),
    markdownSection({ title: 'Tools', template: 'Prefer these to reading files one by one.', tools }),
  ],
});

const filesystem = memoryFilesystem({
  'src/a.ts': 'const a = 1;\n// TODO: name it\n',
  'src/b.ts': '// TODO: delete\n',
  'notes.md': 'nothing here\n',
});
const { status, text, outcomes } = await runAgent({
  model: offlineModel(),
  prompt,
  session: createSession(),
  resources: { filesystem },
  input: 'List every TODO comment in the sources and write them to report.md',
}).result;
await close();

assert.equal(status, 'completed', text);
assert(outcomes.every(({ kind }) => kind === 'ok'));
const report = await filesystem.readOnly.readText('report.md');
assert.match(report, /name it/);
assert.match(report, /delete/);
assert.doesNotMatch(report, /nothing here/);

console.log(`${tools.length} tools loaded; ${outcomes.map(({ name }) => name).join(', ')} wrote the report`);
