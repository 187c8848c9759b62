import { createPrompt } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { planSlice } from './plan-slice.ts';
import { planningSection } from './planning-section.ts';
import { planningTools } from './planning-tools.ts';
import { defineStrategy, goalDecomposeRouteSynthesise, planActReflect, react, type Strategy } from './strategy.ts';

function render(strategy?: Strategy): string {
  const section = planningSection(strategy === undefined ? {} : { strategy });
  return createPrompt({ ns: 'tests', key: 'planning', sections: [section] }).render().text;
}

/** The lines of the section's own text. */
function linesOf(strategy?: Strategy): readonly string[] {
  const [, body = ''] = render(strategy).split('## 1. Planning (planning)\n\n');
  const [text = ''] = body.split('\n\n#');
  const end = text.indexOf('work is done.') + 'work is done.'.length;
  return text
    .slice(0, end)
    .split('\n')
    .filter((line) => line !== '');
}

test.each([
  { strategy: react, name: 'react', added: 1 },
  { strategy: planActReflect, name: 'plan_act_reflect', added: 2 },
  { strategy: goalDecomposeRouteSynthesise, name: 'goal_decompose_route_synthesise', added: 3 },
])('$name keeps the common structure and adds $added lines', ({ strategy, name, added }) => {
  expect(strategy.name).toBe(name);
  const lines = linesOf(strategy);
  const plain = linesOf(defineStrategy({ name: 'plain', guidance: [] }));
  expect(plain).toHaveLength(8);
  expect(plain.slice(1, 7).every((line) => line.startsWith('- '))).toBe(true);
  expect(lines.slice(0, 7)).toEqual(plain.slice(0, 7));
  expect(lines.slice(7, -1)).toEqual(strategy.guidance);
  expect(strategy.guidance).toHaveLength(added);
  expect(lines.at(-1)).toBe(plain.at(-1));
});

test('react alternates, and the goal is restated before it is split', () => {
  expect(react.guidance[0]).toMatch(/^Alternate reasoning, tool calls and observations/);
  expect(goalDecomposeRouteSynthesise.guidance[0]).toMatch(/^Restate the goal/);
});

test('react is the default', () => {
  expect(render()).toBe(render(react));
});

test('renders the section text', () => {
  expect(linesOf(planActReflect)).toMatchInlineSnapshot(`
    [
      "Make a plan for work that takes more than one step, and keep it up to date.",
      "- \`planning_setup_plan\` starts a plan with an objective and the first steps. It replaces any existing plan.",
      "- \`planning_add_step\` adds one or more steps at the end.",
      "- \`planning_update_step\` changes a title or a status: \`pending\`, \`in_progress\` or \`done\`.",
      "- \`planning_read_plan\` shows the objective and all steps with their ids and statuses.",
      "- Titles and the objective have 1 to 500 characters. Step ids count up from 1 and are never reused in a plan.",
      "- When all steps are done, the plan is completed and can no longer be changed; set up a new one for further work.",
      "Plan all of the work before you act, then do one step at a time.",
      "After each step, compare its result with the objective. If the plan no longer fits, change it before you continue.",
      "Mark a step as done only after its work is done.",
    ]
  `);
});

test('a custom strategy is rendered verbatim, dollar signs included', () => {
  const guidance = ['  Spend at most $5 or $five on a step. ', 'Cheapest first: $$'];
  const thrifty = defineStrategy({ name: 'thrifty', guidance });
  expect(linesOf(thrifty).slice(7, -1)).toEqual(['Spend at most $5 or $five on a step.', 'Cheapest first: $$']);
  guidance.push('Later.');
  expect(thrifty.guidance).toHaveLength(2);
});

test.each([
  { name: '', guidance: [] },
  { name: 'Thrifty', guidance: [] },
  { name: 'plan-act', guidance: [] },
  { name: '_x', guidance: [] },
  { name: 'x'.repeat(65), guidance: [] },
  { name: 'thrifty', guidance: ['Cheap.', ' '] },
  { name: 'thrifty', guidance: ['Cheap.\nAnd fast.'] },
])('planning.invalid: strategy: $name, $guidance', (definition) => {
  expect(() => defineStrategy(definition)).toThrowError(
    expect.objectContaining({ code: 'planning.invalid', reason: 'strategy' }),
  );
});

test('the section provides the four tools and the slice under any title and key', () => {
  const section = planningSection({ title: 'To do', key: 'todo' });
  const prompt = createPrompt({ ns: 'tests', key: 'planning', sections: [section] });
  const { text, tools } = prompt.render();
  expect(text).toMatch(/^## 1\. To do \(todo\)\n\nMake a plan/);
  expect(tools).toEqual(planningTools());
  expect(section.slices).toEqual([planSlice]);
  expect(planningSection({ title: 'To do' }).key).toBe('to-do');
});

test('a summarized section is one line until it is opened', () => {
  const section = planningSection({ visibility: 'summary' });
  const prompt = createPrompt({ ns: 'tests', key: 'planning', sections: [section] });
  const session = createSession({ slices: prompt.slices });
  const closed = prompt.render({ session });
  expect(closed.text).toContain('Tools for planning.');
  expect(closed.tools.map(({ name }) => name)).toEqual(['open_sections']);
  prompt.expand(['planning'], session);
  const { text, tools } = prompt.render({ session });
  expect(text).toBe(render());
  expect(tools.map(({ name }) => name)).toEqual(planningTools().map(({ name }) => name));
});
