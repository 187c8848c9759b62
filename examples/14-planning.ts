// A model plans its work, must continue while steps are open, and finishes. The plan is state: it rolls back and is logged.
import assert from 'node:assert/strict';
import { defineTool, toolOk } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { defineStrategy, planCompleted, planningSection, planSlice, renderPlan } from '@holdfast/planning';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession, replay } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const write = defineTool({
  name: 'write_chapter',
  description: 'Write one chapter of the manual.',
  inputSchema: v.object({ chapter: v.string() }),
  effects: 'state',
  execute: ({ chapter }) => toolOk(null, `The chapter "${chapter}" is written.`),
});

const prompt = createPrompt({
  ns: 'examples',
  key: 'planning',
  sections: [
    markdownSection({ title: 'Goal', template: 'Write the manual.', tools: [write] }),
    // All strategies share tools and rules; a custom one adds guidance.
    planningSection({ strategy: defineStrategy({ name: 'outline', guidance: ['One step for each chapter.'] }) }),
  ],
  completion: planCompleted(),
});
assert.match(prompt.render().text, /One step for each chapter\./);

const call = (name: string, input: object) => ({ name, arguments: JSON.stringify(input) });
const setUp = call('planning_setup_plan', { objective: 'A manual', initial_steps: ['Install', 'Use'] });
const done = (id: number) => call('planning_update_step', { step_id: id, status: 'done' });
const model = scriptedModel([
  { calls: [done(1)] }, // Fails: there is no plan yet.
  { calls: [setUp, call('planning_add_step', { steps: ['Repair'] })] },
  {
    calls: [call('write_chapter', { chapter: 'Install' }), done(1), call('write_chapter', { chapter: 'Use' }), done(2)],
  },
  { text: 'The manual is written.' }, // Too early: the third step is open.
  { calls: [call('write_chapter', { chapter: 'Repair' }), done(3)] },
  { text: 'The manual is written, all three chapters.' },
]);

const session = createSession();
const { status, text, outcomes } = await runAgent({ model, prompt, session, input: 'Go on.' }).result;
assert.deepEqual([status, text], ['completed', 'The manual is written, all three chapters.']);
assert.deepEqual([outcomes[0]?.kind, outcomes[0]?.reason], ['failed', 'no_plan']);
assert.match(outcomes[0]?.text ?? '', /Set one up with `planning_setup_plan`/);
assert.ok(outcomes.slice(1).every(({ kind }) => kind === 'ok'));

// The feedback names the open step.
assert.match(model.requests.at(-2)?.messages.at(-1)?.text ?? '', /Still open: 3 \(Repair\)/);

const plan = session.read(planSlice);
assert.ok(plan);
assert.equal(
  renderPlan(plan, { color: false }),
  `Plan  A manual  completed, 3/3 done
  [x] 1. Install
  [x] 2. Use
  [x] 3. Repair`,
);
// The log is enough to rebuild the plan.
assert.deepEqual(replay([...session.records()], { slices: [planSlice] }).read(planSlice), plan);

console.log(renderPlan(plan, { color: process.stdout.isTTY === true }));
