import {
  allow,
  append,
  ask,
  definePlugin,
  definePolicy,
  defineResource,
  defineSlice,
  defineTool,
  deny,
  type ListState,
  type RunEvent,
  type Slice,
  type Tool,
} from '@holdfast/core';
import { createBudget, runAgent } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { readBeforeWrite, sequentialDependency } from '@holdfast/policy';
import {
  allComplete,
  createPrompt,
  everyCalls,
  hashOverridden,
  loadOverrides,
  markdownSection,
  memoryOverrides,
  saveOverrides,
  staticFeedback,
  visibilitySlice,
} from '@holdfast/prompt';
import { createRegistry } from '@holdfast/registry';
import { createSession, type LogRecord, memoryStore, replay } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { manualClock, type ScriptStep, scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { type Tampering, tamper } from './handed-out/tamper.ts';

type Place = 'tool' | 'policy' | 'listener' | 'subscriber' | 'person' | 'feedback' | 'result' | 'host';

/** Everything that two runs share, and who tries to change it. */
async function makeWorld(who: Place | undefined) {
  let armed = true;
  const foreign = new Set<unknown>();
  const tampered: Tampering[] = [];
  const pry = (place: Place, ...handed: readonly unknown[]): void => {
    if (place === who && armed) tampered.push(tamper(Object.freeze(handed), foreign));
  };
  const inputSchema = v.object({ what: v.optional(v.string(), 'it') });
  const jobs: Slice<ListState<string>> = defineSlice<string>({
    id: 'jobs',
    kind: 'list',
    reducers: { job: (_state, payload) => append(String(payload)) },
  });
  const act = (name: string, extra: Partial<Tool> = {}): Tool =>
    defineTool({
      name,
      description: `Does ${name}.`,
      inputSchema,
      effects: 'state',
      ...(extra as object),
      async execute({ what }, context) {
        const { session, prompt: own, use, call: callNested } = context;
        pry('tool', context, session.read(jobs), own?.render({ session }), await use(desk));
        session.dispatch({ type: 'job', payload: `${name} ${what}` });
        if (name === 'deploy') pry('tool', await callNested('check', { what: 'inner' }));
        return { done: what };
      },
      renderResult: ({ done }: { done: string }) => `${name} of ${done}.`,
    } as Parameters<typeof defineTool>[0]) as Tool;
  const desk = defineResource({ name: 'desk', lifetime: 'session', create: () => Object.freeze({ tidy: true }) });
  const noted = definePolicy<number>({
    name: 'noted',
    initialState: 0,
    check(call, context) {
      pry('policy', call, context);
      if (call.tool.name === 'wipe') return ask('Really?');
      return JSON.stringify(call.input).includes('forbidden') ? deny('It is forbidden.') : allow;
    },
    onResult(call, result, context) {
      pry('policy', call, result, context);
      return context.state + 1;
    },
  });
  const plugin = definePlugin({
    name: 'plugged',
    version: '1.0.0',
    description: 'Brings a tool.',
    holdfast: '*',
    setup: () => ({ tools: [act('check', { effects: 'none' })] }),
  });
  const registry = createRegistry().use(plugin);
  const tools = {
    test: act('test'),
    deploy: act('deploy', { effects: 'external', repeat: 'keyed' }),
    wipe: act('wipe'),
  };
  const checked = act('check', { effects: 'state' });
  const plain = createPrompt({
    ns: 'tests/handed',
    key: 'out',
    sections: [
      markdownSection({
        title: 'Release',
        template: 'Ship $what.',
        params: v.object({ what: v.string() }),
        defaults: { what: 'it' },
        tools: [tools.test, tools.deploy, tools.wipe, checked],
        policies: [sequentialDependency({ deploy: ['test'] })],
        slices: [jobs],
        taskExamples: [
          {
            objective: 'Ship.',
            steps: [{ tool: 'test', description: 'Test.', input: {}, output: { done: 'it' } }],
            outcome: { shipped: true },
          },
        ],
      }),
      markdownSection({ title: 'Files', template: 'Read first.', tools: fileTools(), policies: [readBeforeWrite()] }),
      markdownSection({ title: 'More', template: 'More.', summary: 'Closed.', visibility: 'summary' }),
    ],
    policies: [definePolicy({ name: 'quiet', check: ({ tool }) => (tool.name === 'shout' ? deny('No.') : allow) })],
    output: v.object({ shipped: v.boolean() }),
    feedback: [
      staticFeedback({ name: 'go-on', text: 'Go on.', triggers: [everyCalls(2)] }),
      { name: 'own', triggers: [everyCalls(3)], provide: (context) => void pry('feedback', context) },
    ],
    completion: allComplete([
      {
        name: 'own',
        check(context) {
          pry('feedback', context);
          return { complete: true };
        },
      },
    ]),
  });
  const store = memoryOverrides();
  const described = await hashOverridden(tools.test.description);
  await saveOverrides(
    plain,
    {
      version: 1,
      ns: 'tests/handed',
      key: 'out',
      tag: 'latest',
      tools: { test: { description: { hash: described, text: 'Tests it.' } } },
    } as never,
    { store },
  );
  const { prompt } = await loadOverrides(plain, { store });
  const budget = createBudget({ maxCalls: 9 });
  const filesystem = memoryFilesystem({ 'a.txt': 'old' });
  const redactor = createRedactor({ key: 'a key of sixteen', secrets: ['hunter2-hunter2'] });
  // What the test itself brings.
  for (const own of [filesystem, inputSchema]) foreign.add(own);

  return {
    tampered,
    async run(id: string) {
      const records = memoryStore();
      const session = createSession({ id, nonce: '', store: records, clock: manualClock(), slices: [jobs], redactor });
      session.subscribe((record) => pry('subscriber', record));
      const events: RunEvent[] = [];
      const model = scriptedModel(script);
      foreign.add(model);
      const result = await runAgent({
        model,
        prompt: prompt.bind({ what: 'it' }),
        session,
        input: 'Ship it.',
        policies: [noted],
        budget,
        resources: { filesystem },
        clock: manualClock(),
        approve(pending) {
          pry('person', pending);
          return { type: 'deny', reason: 'Never.' };
        },
        onEvent(event) {
          events.push(JSON.parse(JSON.stringify(event)) as RunEvent);
          pry('listener', event);
        },
      }).result;
      const asked = model.requests.map(({ messages, tools: offered, output }) =>
        JSON.stringify({ messages, offered, output }),
      );
      const kept = JSON.parse(JSON.stringify(records.records)) as LogRecord[];
      const told = JSON.parse(JSON.stringify(result)) as unknown;
      const jobsDone = session.read(jobs).toArray();
      // The output is made for the host alone, and the session is the host's.
      foreign.add(result.output).add(session);
      pry('result', result, session.read(jobs), session.snapshot(), ...records.records, ...session.records());
      pry(
        'host',
        prompt,
        prompt.render(),
        budget,
        noted,
        ...Object.values(tools),
        checked,
        jobs,
        desk,
        plugin,
        registry,
        registry.tools,
        registry.plugins,
        registry.explain('check'),
        redactor,
        ...fileTools(),
      );
      armed = false;
      // What was tampered with in the log's hands would be found when it is read again.
      const replayed = replay(records.records, { slices: [jobs, visibilitySlice] })
        .read(jobs)
        .toArray();
      return {
        told,
        asked,
        events,
        kept,
        jobsDone,
        replayed,
        again: JSON.parse(JSON.stringify(records.records)) as unknown,
      };
    },
  };
}

const call = (name: string, args: object = {}) => ({ id: name, name, arguments: args });
const script: readonly ScriptStep[] = [
  { text: 'First.', calls: [call('deploy'), call('check')] },
  { calls: [call('test', { what: 'hunter2-hunter2' }), call('shout')] },
  { calls: [call('deploy', { what: 'forbidden' }), call('write_file', { path: 'a.txt', content: 'new' })] },
  { calls: [call('wipe'), call('deploy', { what: 'now' })] },
  { calls: [call('test', { what: 'again' })] },
  { text: '{"shipped": true}' },
];

async function runTwice(who?: Place) {
  const world = await makeWorld(who);
  const first = await world.run('first');
  return { first, second: await world.run('second'), tampered: world.tampered };
}

const untouched = await runTwice();

test('the runs that are compared meet allows, denials, a question and the end of their budget', () => {
  const outcomes = JSON.stringify(untouched.first.told);
  for (const code of ['policy.denied', 'approval.denied', 'tool.unknown']) expect(outcomes).toContain(code);
  expect(untouched.first.told).toMatchObject({ status: 'completed', output: { shipped: true } });
  expect(untouched.second.told).toMatchObject({ status: 'budget' });
  expect(untouched.first.replayed).toEqual(untouched.first.jobsDone);
});

test.each<Place>(['tool', 'policy', 'listener', 'subscriber', 'person', 'feedback', 'result', 'host'])(
  'a %s that tries to change all that it can reach changes no run',
  async (who) => {
    const { first, second, tampered } = await runTwice(who);
    expect(tampered.flatMap(({ seen }) => seen).length).toBeGreaterThanOrEqual(5);
    const changed = new Set(tampered.flatMap((each) => each.changed));
    // A tool's context has nothing of its own but what the tool itself puts there, and is the call's alone.
    if (who === 'tool') for (const own of ['$.0 add', '$.0 prototype']) changed.delete(own);
    expect([...changed]).toEqual([]);
    expect(first).toEqual(untouched.first);
    expect(second).toEqual(untouched.second);
  },
);

test('a foreign prompt keeps its policies when a tool tampers with its page', async () => {
  let calls = 0;
  const clear = defineTool({
    name: 'clear',
    description: 'Clears the policies.',
    effects: 'none',
    execute(_input, { renderedPrompt }) {
      calls += 1;
      const { policies, tools, allPolicies } = renderedPrompt ?? {};
      return [policies, tools, allPolicies].map((each) => each !== undefined && tamper(each).changed.length);
    },
  });
  const once = definePolicy<number>({
    name: 'once',
    initialState: 0,
    check: (_call, { state }) => (state === 0 ? allow : deny('Once.')),
    onResult: (_call, _result, { state }) => state + 1,
  });
  const bound = { key: 'prompt/once', policy: once };
  const page = { text: 'Go.', tools: [clear], policies: new Map([['clear', [bound]]]), allPolicies: [bound] };
  const prompt = { name: 'own', render: () => page };
  for (let run = 0; run < 2; run += 1) {
    const again = { calls: [{ name: 'clear', arguments: {} }] };
    const model = scriptedModel([again, again, { text: 'Done.' }]);
    const { outcomes } = await runAgent({ model, prompt, session: createSession(), input: '' }).result;
    expect(outcomes).toMatchObject([{ kind: 'ok', value: [0, 0, 0] }, { kind: 'denied' }]);
  }
  expect(calls).toBe(2);
});
