// A prompt with tools and the policies that guard them. The model recovers from a denied call.
import assert from 'node:assert/strict';
import { defineTool, type ToolCallEndEvent, toolOk } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { readBeforeWrite, sequentialDependency } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const step = (name: string) =>
  defineTool({
    name,
    description: `Run the release step "${name}".`,
    effects: 'state',
    execute: () => toolOk({ step: name }, `${name} passed.`),
  });

const prompt = createPrompt({
  ns: 'examples/release',
  key: 'overview',
  sections: [
    markdownSection({
      title: 'Goal',
      template: 'Release version $version and note it in the change log.',
      params: v.object({ version: v.string() }),
    }),
    markdownSection({
      title: 'Files',
      template: 'Read a file before you change it.',
      tools: fileTools(),
      policies: [readBeforeWrite()],
    }),
    markdownSection({
      title: 'Release',
      template: 'Ship only what was linted and built.',
      tools: [step('lint'), step('build'), step('deploy')],
      policies: [sequentialDependency({ build: ['lint'], deploy: ['build'] })],
    }),
  ],
}).bind({ version: '1.2.0' });

// A scripted model is deterministic. This one is hasty: it deploys first and writes before reading.
const write = { name: 'write_file', arguments: { path: 'CHANGES.md', content: '# 1.2.0\n# 1.1.0\n' } };
const model = scriptedModel([
  { calls: [{ name: 'deploy', arguments: {} }, write] },
  {
    calls: [
      { name: 'lint', arguments: {} },
      { name: 'build', arguments: {} },
    ],
  },
  { calls: [{ name: 'read_file', arguments: { path: 'CHANGES.md' } }] },
  { calls: [write, { name: 'deploy', arguments: {} }] },
  { text: 'Version 1.2.0 is out.' },
]);

const filesystem = memoryFilesystem({ 'CHANGES.md': '# 1.1.0\n' });
const run = runAgent({ model, prompt, session: createSession(), resources: { filesystem }, input: 'Release it.' });

const ended: ToolCallEndEvent[] = [];
for await (const event of run) if (event.type === 'tool-call-end') ended.push(event);
const { status, text } = await run.result;

assert.equal(status, 'completed');
assert.equal(text, 'Version 1.2.0 is out.');
assert.deepEqual(
  ended.map(({ name, outcome }) => `${name}: ${outcome.kind}`),
  ['deploy: denied', 'write_file: denied', 'lint: ok', 'build: ok', 'read_file: ok', 'write_file: ok', 'deploy: ok'],
);
assert.match(ended[0]?.outcome.text ?? '', /build/);
assert.equal(await filesystem.readOnly.readText('CHANGES.md'), '# 1.2.0\n# 1.1.0\n');

console.log('deployed only after lint and build; the change log was read before it was changed');
