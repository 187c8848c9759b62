// A long prompt starts short. The model opens a section when it needs it; its tools and policy apply at once.
import assert from 'node:assert/strict';
import { defineTool, toolOk, visibilityExpansionRequired } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { sequentialDependency } from '@holdfast/policy';
import { clearSections, createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';

const step = (name: string) =>
  defineTool({ name, description: `Do the step "${name}".`, effects: 'state', execute: () => toolOk(name) });
// Opens a section, and the model continues with its instructions.
const rollBack = defineTool({
  name: 'roll_back',
  description: 'Roll back the last release.',
  effects: 'state',
  execute: () => {
    throw visibilityExpansionRequired(['incidents']);
  },
});

const prompt = createPrompt({
  ns: 'examples',
  key: 'operations',
  sections: [
    markdownSection({ title: 'Goal', template: 'Keep the shop open.', tools: [rollBack] }),
    markdownSection({
      title: 'Release',
      summary: 'How a version is built and deployed.',
      visibility: 'summary',
      template: 'Build first, then deploy the build.',
      tools: [step('build'), step('deploy')],
      policies: [sequentialDependency({ deploy: ['build'] })],
    }),
    markdownSection({
      title: 'Incidents',
      summary: 'What to do when something breaks.',
      visibility: 'summary',
      template: 'Write down what broke.',
      tools: [step('write_down')],
    }),
    markdownSection({ title: 'Words', summary: 'Jargon.', visibility: 'summary', template: 'A canary is one server.' }),
  ],
});

const call = (name: string, input: object = {}) => ({ calls: [{ name, arguments: input }] });
const model = scriptedModel([
  call('read_section', { section_key: 'words' }),
  call('open_sections', { section_keys: ['release'], reason: 'A version has to go out.' }),
  call('deploy'),
  call('build'),
  call('deploy'),
  call('roll_back'),
  call('write_down'),
  { text: 'Deployed, and taken back.' },
]);
const session = createSession();
const { status, outcomes } = await runAgent({ model, prompt, session, input: 'Deploy.' }).result;

assert.equal(status, 'completed');
const ends = outcomes.map(({ name, kind }) => (kind === 'ok' ? name : `${name} is ${kind}`)).join(', ');
assert.equal(ends, 'read_section, open_sections, deploy is denied, build, deploy, roll_back, write_down');
assert.equal(outcomes[0]?.text, '## 4. Words (words)\n\nA canary is one server.');

const toolsOf = (turn: number) => model.requests[turn]?.tools.map(({ name }) => name);
assert.deepEqual(toolsOf(0), ['roll_back', 'open_sections', 'read_section']);
assert.deepEqual(toolsOf(2), ['roll_back', 'build', 'deploy', 'open_sections', 'read_section']);
assert.deepEqual(toolsOf(6), ['roll_back', 'build', 'deploy', 'write_down', 'read_section']);

// Only the first message changed; the conversation continues.
const [before, after] = [model.requests[1], model.requests[2]];
assert.notDeepEqual(after?.messages[0], before?.messages[0]);
assert.deepEqual(after?.messages.slice(1, 4), before?.messages.slice(1));

// Opened sections stay open in the session until the host closes them.
session.dispatch(clearSections(prompt));
assert.match(prompt.render({ session }).text, /How a version is built and deployed/);
console.log('a section was read, one was opened by the model and one by a tool; its policy held from then on');
