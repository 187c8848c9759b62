import {
  append,
  definePolicy,
  defineSlice,
  defineTool,
  deny,
  type RunEvent,
  type SessionReader,
  visibilityExpansionRequired,
} from '@holdfast/core';
import type { ChildSession } from '@holdfast/core/types';
import { resumeRun, runAgent } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { planCompleted, planningSection, planSlice } from '@holdfast/planning';
import { sequentialDependency } from '@holdfast/policy';
import { allComplete, createPrompt, everyCalls, filesExist, markdownSection, staticFeedback } from '@holdfast/prompt';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { type ScriptStep, scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';

const lint = defineTool({ name: 'lint', description: 'Check the code.', effects: 'none', execute: () => 'clean' });
const ship = defineTool({ name: 'ship', description: 'Ship it.', effects: 'external', execute: () => 'shipped' });

const prompt = createPrompt({
  ns: 'tests/whole',
  key: 'release',
  name: 'Release',
  sections: [
    markdownSection({
      title: 'Goal',
      template: 'Release $version.',
      params: v.object({ version: v.string() }),
    }),
    markdownSection({
      title: 'Releasing',
      template: 'Ship only what was checked.',
      summary: 'How $$to ship.',
      visibility: 'summary',
      tools: [lint, ship],
      policies: [sequentialDependency({ ship: ['lint'] })],
    }),
    planningSection(),
    markdownSection({ title: 'Files', template: 'Write notes.', tools: fileTools() }),
  ],
  feedback: [staticFeedback({ name: 'brief', text: 'Be brief.', triggers: [everyCalls(6)] })],
  completion: allComplete([planCompleted(), filesExist(['notes.md'])]),
  output: v.object({ version: v.string(), shipped: v.boolean() }),
}).bind({ version: '1.2.0' });

const script: readonly ScriptStep[] = [
  { calls: [{ id: 'o', name: 'open_sections', arguments: { section_keys: ['releasing'], reason: 'To ship.' } }] },
  { calls: [{ id: 's1', name: 'ship', arguments: {} }] },
  {
    calls: [
      {
        id: 'p',
        name: 'planning_setup_plan',
        arguments: { objective: 'Release 1.2.0', initial_steps: ['Check', 'Ship', 'Note'] },
      },
    ],
  },
  {
    calls: [
      { id: 'l', name: 'lint', arguments: {} },
      { id: 's2', name: 'ship', arguments: {} },
      { id: 'u1', name: 'planning_update_step', arguments: { step_id: 1, status: 'done' } },
      { id: 'u2', name: 'planning_update_step', arguments: { step_id: 2, status: 'done' } },
    ],
  },
  { text: 'Shipped.' },
  {
    calls: [
      { id: 'w', name: 'write_file', arguments: { path: 'notes.md', content: '1.2.0' } },
      { id: 'u3', name: 'planning_update_step', arguments: { step_id: 3, status: 'done' } },
    ],
  },
  { text: 'Shipped.' },
  { text: 'Here it is:\n\n```json\n{ "version": "1.2.0", "shipped": true }\n```' },
];

test('a section is opened, its policy denies, a plan is made, kept and insisted on, and the output is read', async () => {
  const session = createSession();
  const model = scriptedModel(script);
  const events: RunEvent[] = [];
  const run = runAgent({
    model,
    prompt,
    session,
    input: 'Release.',
    resources: { filesystem: memoryFilesystem() },
    onEvent: (event) => events.push(event),
  });
  const result = await run.result;
  expect(result).toMatchObject({ status: 'completed', turns: 8, output: { version: '1.2.0', shipped: true } });
  expect(result).not.toHaveProperty('unfinished');
  expectTypeOf(result.output).toEqualTypeOf<{ version: string; shipped: boolean } | undefined>();
  expect(result.outcomes.map(({ callId, kind }) => [callId, kind])).toEqual([
    ['o', 'ok'],
    ['s1', 'denied'],
    ['p', 'ok'],
    ['l', 'ok'],
    ['s2', 'ok'],
    ['u1', 'ok'],
    ['u2', 'ok'],
    ['w', 'ok'],
    ['u3', 'ok'],
  ]);
  const offered = model.requests.map(({ tools }) => tools.map(({ name }) => name));
  expect(offered[0]).not.toContain('ship');
  expect(offered[0]).toContain('open_sections');
  expect(offered[1]).toContain('ship');
  expect(offered[1]).not.toContain('open_sections');
  expect(model.requests.map(({ output }) => output?.['required'])).toEqual(script.map(() => ['version', 'shipped']));

  // The conversation stays; only the system's text changes.
  const [first, last] = [model.requests[0]?.messages ?? [], model.requests.at(-1)?.messages ?? []];
  expect(first[0]?.text).toContain('How $to ship.');
  expect(last[0]?.text).toContain('Ship only what was checked.');
  const told = last.filter(({ role }) => role === 'user').map((message) => message.text);
  expect(told).toEqual([
    'Release.',
    'Be brief.',
    expect.stringMatching(/not completed: 2 of 3 steps done.*3 \(Note\)/),
    expect.stringContaining('JSON'),
  ]);
  expect(events.flatMap((event) => (event.type === 'feedback' ? [event.source] : []))).toEqual([
    'provider',
    'completion',
    'output',
  ]);
  expect(session.read(planSlice)).toMatchObject({ status: 'completed', objective: 'Release 1.2.0' });
});

test('the same, cut off at any record and resumed elsewhere', async () => {
  const store = memoryStore();
  const slices = prompt.slices;
  const filesystem = memoryFilesystem();
  const whole = await runAgent({
    model: scriptedModel(script),
    prompt,
    session: createSession({ store, slices }),
    input: 'Release.',
    resources: { filesystem },
  }).result;
  expect(whole.status).toBe('completed');
  const records = [...store.records];
  const messages = records.flatMap(({ type }, at) => (type === 'model-message' ? [at] : []));
  for (const cut of messages.map((at) => at + 1)) {
    // Right after a message: its calls have not begun, so the next process cancels them, and the model sends them again.
    const part = memoryStore(records.slice(0, cut));
    const session: Session = replay(part.records, { slices, store: part });
    const asked = records.slice(0, cut).filter(({ type }) => type === 'model-message').length;
    const interrupted = script[asked - 1];
    const again = interrupted !== undefined && 'calls' in interrupted ? [interrupted] : [];
    const model = scriptedModel([...again, ...script.slice(asked)]);
    const resources = { filesystem: memoryFilesystem(asked > 5 ? { 'notes.md': '1.2.0' } : {}) };
    const result = await resumeRun({ model, prompt, session, resources }).result;
    expect({ cut, ...result }).toMatchObject({ cut, status: 'completed', output: { shipped: true } });
    expect(session.read(planSlice)).toMatchObject({ status: 'completed' });
  }
});

test('a tool that needs a section has it opened, and leaves nothing behind', async () => {
  const careless = defineTool({
    name: 'careless',
    description: 'Writes first and asks then.',
    effects: 'state',
    async execute(_input, { filesystem, renderedPrompt }) {
      await filesystem?.write('half.txt', 'half');
      if (renderedPrompt?.tools.some(({ name }) => name === 'ship') !== true) {
        throw visibilityExpansionRequired(['releasing'], 'Shipping has rules.');
      }
      return 'done';
    },
  });
  const needing = createPrompt({
    ns: 'tests/whole',
    key: 'needing',
    sections: [
      markdownSection({ title: 'Work', template: 'Work.', tools: [careless] }),
      markdownSection({
        title: 'Releasing',
        template: 'Rules.',
        summary: 'Shipping.',
        visibility: 'summary',
        tools: [ship],
      }),
    ],
  });
  const filesystem = memoryFilesystem();
  const again = { id: 'a', name: 'careless', arguments: {} };
  const model = scriptedModel([{ calls: [again] }, { calls: [again] }, { text: 'Done.' }]);
  const session = createSession();
  const run = runAgent({ model, prompt: needing, session, input: 'Go.', resources: { filesystem } });
  const seen: boolean[] = [];
  for await (const event of run) {
    if (event.type === 'tool-call-end') seen.push((await filesystem.readOnly.stat('half.txt')) !== undefined);
  }
  const { outcomes } = await run.result;
  expect(outcomes).toMatchObject([
    { kind: 'ok', text: expect.stringContaining('`releasing`') },
    { kind: 'ok', value: 'done' },
  ]);
  expect(seen).toEqual([false, true]);
});

test('a nested run has a prompt of its own: what it opens is its own affair', async () => {
  const inner = createPrompt({
    ns: 'tests/whole',
    key: 'release',
    sections: [markdownSection({ title: 'Secret', template: 'Deep.', summary: 'Shallow.', visibility: 'summary' })],
  });
  const texts: string[] = [];
  const reading = defineTool({
    name: 'delegate',
    description: 'Lets another model look.',
    effects: 'state',
    async execute(_input, context) {
      const child: ChildSession = context.child();
      const model = scriptedModel([
        { calls: [{ id: 'r', name: 'read_section', arguments: { section_key: 'secret' } }] },
        { text: 'Seen.' },
      ]);
      const { outcomes, text } = await runAgent({ model, prompt: inner, session: child, input: 'Look.' }).result;
      texts.push(...outcomes.map((outcome) => outcome.text));
      return text;
    },
  });
  const deny1 = definePolicy({
    name: 'no-ship',
    check: ({ tool }) => (tool.name === 'ship' ? deny('No.') : { type: 'allow' }),
  });
  const outer = createPrompt({
    ns: 'tests/whole',
    key: 'outer',
    sections: [markdownSection({ title: 'Outer', template: 'Out.', tools: [reading], policies: [deny1] })],
  });
  const model = scriptedModel([{ calls: [{ id: 'd', name: 'delegate', arguments: {} }] }, { text: 'Done.' }]);
  const result = await runAgent({ model, prompt: outer, session: createSession(), input: 'Go.' }).result;
  expect(result).toMatchObject({ status: 'completed', outcomes: [{ kind: 'ok', value: 'Seen.' }] });
  expect(texts[0]).toContain('Deep.');
});

test.each(['enabled', 'visibility'] as const)(
  'an `%s` rule that throws in the middle of a run: the run ends as model-error and keeps what it reached',
  async (rule) => {
    let broken = false;
    const judge = (): void => {
      if (broken) throw new Error('no drafts');
    };
    const drafts = defineSlice<number>({ id: 'drafts', kind: 'list', reducers: { drafted: () => append(1) } });
    const draft = defineTool({
      name: 'draft',
      description: 'Writes a draft.',
      effects: 'state',
      execute(_input, { session }) {
        session.dispatch({ type: 'drafted', payload: null });
        broken = true;
        return 'drafted';
      },
    });
    const rules = {
      enabled: {
        enabled(_params: unknown, session: SessionReader | undefined): boolean {
          judge();
          return session?.read(drafts) !== undefined;
        },
      },
      visibility: {
        summary: 'In short.',
        visibility(_params: unknown, session: SessionReader | undefined): 'full' {
          judge();
          session?.read(drafts);
          return 'full';
        },
      },
    };
    const broke = createPrompt({
      ns: 'tests/rules',
      key: 'broken',
      sections: [
        markdownSection({ title: 'Drafts', template: 'Draft.', tools: [draft], slices: [drafts] }),
        markdownSection({ title: 'More', template: 'More.', ...rules[rule] }),
      ],
    });
    const store = memoryStore();
    const session = createSession({ store });
    const model = scriptedModel([{ text: 'I begin.', calls: [{ name: 'draft', arguments: {} }] }, { text: 'Done.' }]);
    const events: RunEvent[] = [];
    const run = runAgent({ model, prompt: broke, session, input: 'Go.', onEvent: (event) => void events.push(event) });
    expect(await run.result).toMatchObject({
      status: 'model-error',
      text: 'I begin.',
      turns: 1,
      outcomes: [{ kind: 'ok', name: 'draft' }],
      error: { code: 'section.rule.failed', data: { section: 'more', rule } },
    });
    expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'model-error' });
    expect(store.records.at(-1)).toMatchObject({ type: 'run-end', error: { code: 'section.rule.failed' } });
    expect(session.openWork().runs).toEqual([]);
    expect(session.read(drafts).size).toBe(1);
  },
);
