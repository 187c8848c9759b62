// Guardrails of a run: timely feedback, a required file, and an answer that must match a schema.
import assert from 'node:assert/strict';
import type { FeedbackEvent } from '@holdfast/core/types';
import { runAgent } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import {
  createPrompt,
  deadlineFeedback,
  everyCalls,
  fileCreated,
  filesExist,
  markdownSection,
  staticFeedback,
} from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { manualClock, scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const prompt = createPrompt({
  ns: 'examples',
  key: 'review',
  sections: [
    markdownSection({
      title: 'Review',
      template: 'Read the sources, write `report.md`, then answer.',
      tools: fileTools(),
    }),
  ],
  output: v.object({ verdict: v.picklist(['good', 'bad']), problems: v.array(v.string()) }),
  feedback: [
    deadlineFeedback({ triggers: [everyCalls(2)] }),
    staticFeedback({ name: 'proof-reading', text: 'Read the report once more.', triggers: [fileCreated('report.md')] }),
  ],
  completion: filesExist(['report.md']),
});

const read = (path: string) => ({ name: 'read_file', arguments: { path } });
const model = scriptedModel([
  { calls: [read('a.ts'), read('b.ts')] },
  { text: '{"verdict":"good","problems":[]}' },
  { calls: [{ name: 'write_file', arguments: { path: 'report.md', content: 'All is well.\n' } }] },
  { text: 'The verdict is: {"verdict":"fine"}' },
  { text: '```json\n{"verdict":"good","problems":[]}\n```' },
]);
const filesystem = memoryFilesystem({ 'a.ts': 'export {};\n', 'b.ts': 'export {};\n' });
const clock = manualClock();
const session = createSession({ clock });
const run = runAgent({ model, prompt, session, clock, timeoutMs: 90_000, resources: { filesystem }, input: 'Review.' });

const told: FeedbackEvent[] = [];
for await (const event of run) if (event.type === 'feedback') told.push(event);
const { status, output } = await run.result;

assert.equal(status, 'completed');
assert.deepEqual(output, { verdict: 'good', problems: [] });
assert.deepEqual(
  told.map(({ source, turn, given }) => [source, turn, ...given.map(({ name }) => name)]),
  [
    ['provider', 1, 'deadline'],
    ['completion', 2, 'files-exist'],
    ['provider', 3, 'proof-reading'],
    ['output', 4, 'output'],
  ],
);
// `output` has the type of the schema.
const verdict: 'good' | 'bad' | undefined = output?.verdict;
console.log(`${verdict}: after four pieces of feedback the model wrote the report, then answered in the required form`);
