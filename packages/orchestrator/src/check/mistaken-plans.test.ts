import type { Model, Planner } from '@holdfast/core';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { checkPlan, compilePlan, modelPlanner, planFrom, type RunPlanOptions, resumePlan, runPlan } from '../index.ts';
import { check, planOf, testTool } from './test-plans.ts';

const messagesOf = async (plan: unknown): Promise<readonly string[]> => {
  const found = await check(plan);
  return found.type === 'invalid' ? found.violations.map(({ message }) => message) : [];
};

test('of many tools, those with the same beginning as the unknown name are listed', async () => {
  const names = [...Array.from({ length: 40 }, (_, index) => `zip_${index}`), 'read_file', 'read_text'];
  const found = await checkPlan(planOf({ id: 0, tool: 'Read_txt' }), {
    tools: names.map((name) => testTool(name)),
  });
  expect(found).toMatchObject({
    violations: [
      {
        message: expect.stringMatching(
          /^Unknown tool `Read_txt`\. Known tools: `read_file`, `read_text`, `zip_0`, .* and 22 more\.$/,
        ),
      },
    ],
  });
});

test.each([
  { what: 'an id', plan: { nodes: [{ id: '3', tool: 'a' }], final_output_node: 3 } },
  { what: 'a dependency', plan: planOf({ id: 3, tool: 'a' }, { id: 4, tool: 'a', depends_on: ['3'] }) },
  { what: 'a reference', plan: planOf({ id: 3, tool: 'a' }, { id: 4, tool: 'a', inputs: { x: { $from: '3' } } }) },
  { what: 'the final node', plan: { nodes: [{ id: 3, tool: 'a' }], final_output_node: '3' } },
])('a quoted number as $what: the message says what to do', async ({ plan }) => {
  expect(await messagesOf(plan)).toContainEqual(expect.stringMatching(/`3`.* Write the number, without quotes\.$/));
});

test.each(['', ' \n\t'])('an empty text is reported as empty: %j', async (text) => {
  expect(await messagesOf(text)).toEqual(['Cannot read a plan: the text is empty.']);
});

test.each([
  { what: 'nothing', planner: undefined },
  { what: 'a name', planner: 'openai:gpt-5' },
  { what: 'a model', planner: { id: 'm', stream: () => [] } },
])('$what as planner is rejected immediately', async ({ planner }) => {
  const request = { request: 'Count.', tools: [], planner: planner as unknown as Planner };
  await expect(compilePlan(request)).rejects.toMatchObject({
    code: 'options.invalid',
    message: expect.stringContaining('modelPlanner(model)'),
  });
});

test.each([
  { model: undefined },
  { model: 'openai:gpt-5' },
  { model: { modelId: 'gpt-5', doStream: () => [] } },
  { model: planFrom('') },
])('modelPlanner rejects a value that is not a model: $model', ({ model }) => {
  expect(() => modelPlanner(model as unknown as Model)).toThrow(
    expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining('aiSdkModel') }),
  );
});

test.each([
  { what: 'no options', options: undefined, says: 'createSession()' },
  { what: 'no session', options: { tools: [] }, says: 'createSession()' },
  { what: 'the name of a session', options: { tools: [], session: 'main' }, says: 'createSession()' },
  { what: 'no tools', options: { session: createSession() }, says: '`tools`' },
  { what: 'tools by name', options: { tools: { a: testTool('a') }, session: createSession() }, says: '`tools`' },
])('a run with $what is rejected before it starts', async ({ options, says }) => {
  const found = await check(planOf({ id: 0, tool: 'a' }));
  if (found.type !== 'valid') throw new Error(found.type);
  const refusal = expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining(says) });
  const given = options as unknown as RunPlanOptions;
  expect(() => runPlan(found.checked, given)).toThrow(refusal);
  expect(() => resumePlan(given)).toThrow(refusal);
});
