import {
  allow,
  append,
  clear,
  definePlugin,
  definePolicy,
  defineTool,
  type Policy,
  remove,
  replace,
  upsert,
} from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import type { SliceKind } from '@holdfast/core/types';
import { executeToolCall, resumeToolCall, runAgent } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { readBeforeWrite } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createRegistry, type Registry } from '@holdfast/registry';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, replay, type Session } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/** A plugin's policy that mishandles the success of other tools fails none of their calls, and learns what it may keep. */

const toolNamed = (name: string) =>
  defineTool({ name, description: `Says ${name}.`, effects: 'state', execute: () => name });

interface Watched {
  readonly policy: Policy;
  /** As JSON, at the last check. */
  seen: string;
}

function watching(kind: SliceKind, answer: unknown, schema: boolean): Watched {
  const watched: Watched = {
    seen: '',
    policy: {
      name: 'watching',
      id: 'watching',
      mentions: [],
      state: {
        kind,
        initial: kind === 'value' ? 0 : undefined,
        schema: schema ? jsonSchema({ type: 'number' }) : undefined,
      },
      check(_call, { state }) {
        watched.seen = JSON.stringify(kind === 'value' ? state : [...(state as Iterable<unknown>)]);
        return allow;
      },
      onResult: () => answer,
    },
  };
  return watched;
}

function registryOf(policy: Policy): Registry {
  const plugin = (name: string, tool: string, policies: readonly Policy[] = []) =>
    definePlugin({ name, version: '1.0.0', description: 'x', holdfast: '>=0.0.0', tools: [toolNamed(tool)], policies });
  return createRegistry()
    .use(plugin('watch', 'mine', [policy]))
    .use(plugin('other', 'theirs'));
}

async function kindOf(registry: Registry, name: string, session: Session): Promise<string> {
  const { tools, policies } = registry;
  return (await executeToolCall({ name, arguments: {} }, { tools, policies, session })).kind;
}

const item = fc.oneof(
  { weight: 3, arbitrary: fc.integer() },
  fc.constantFrom<unknown>(
    'text',
    null,
    undefined,
    new Map(),
    () => 1,
    { at: new Date(0) },
    [1],
    { a: 1 },
    1n,
    Number.NaN,
  ),
);
const operation = fc.oneof(
  item.map(replace),
  item.map((one) => replace([one])),
  item.map((one) => replace({ key: one })),
  item.map((one) => append(one)),
  fc.tuple(fc.constantFrom<unknown>('key', '__proto__', 7), item).map(([key, one]) => upsert(key as string, one)),
  fc.constantFrom<unknown>('key', 7).map((key) => remove(key as string)),
  fc.constant(clear),
  fc.constant({ ...clear, op: 'later' }),
);
const answer: fc.Arbitrary<unknown> = fc.oneof(operation, fc.array(operation, { maxLength: 3 }), item, fc.array(item));

test('a policy of a plugin learns from others what it could keep of its own, and fails no call of theirs', async () => {
  let kept = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('value', 'list', 'keyed'), answer, fc.boolean(), async (kind, given, schema) => {
      const watched = watching(kind, given, schema);
      const registry = registryOf(watched.policy);
      const [own, others] = [createSession(), createSession()];
      const ended = await kindOf(registry, 'mine', own);
      await kindOf(registry, 'mine', own);
      const { seen } = watched;
      expect(await kindOf(registry, 'theirs', others)).toBe('ok');
      await kindOf(registry, 'mine', others);
      expect(watched.seen).toBe(seen);
      if (ended === 'ok') kept += 1;
      else refused += 1;
    }),
    { numRuns: 200 },
  );
  expect(Math.min(kept, refused)).toBeGreaterThan(40);
});

test('one of a section is in force as in any prompt: it may refuse what others have done', async () => {
  const files = fileTools();
  const careless = defineTool({
    name: 'overwrite',
    description: 'Writes without reading.',
    effects: 'state',
    async execute(_input, { filesystem }) {
      await filesystem?.write('a.txt', 'new');
      return 'written';
    },
  });
  const section = markdownSection({ title: 'Files', template: 'Text.', tools: files, policies: [readBeforeWrite()] });
  const plugin = (name: string, more: object) =>
    definePlugin({ name, version: '1.0.0', description: 'x', holdfast: '>=0.0.0', ...more });
  for (const prefix of [undefined, 'my']) {
    const registry = createRegistry()
      .use(plugin('files', { sections: [section] }), prefix === undefined ? {} : { prefix })
      .use(plugin('other', { tools: [careless] }));
    const loose = registry.looseTools.flatMap(({ tools }) => tools);
    const other = markdownSection({ title: 'Other', template: 'Text.', tools: loose });
    const prompt = createPrompt({ ns: 'tests', key: 'states', sections: [...registry.sections, other] }).bind({});
    const model = scriptedModel([{ calls: [{ name: 'overwrite', arguments: {} }] }, { text: 'Done.' }]);
    const resources = { filesystem: memoryFilesystem({ 'a.txt': 'old' }) };
    const run = runAgent({
      model,
      prompt,
      session: createSession(),
      input: 'Go.',
      resources,
      policies: registry.policies,
    });
    const ended: string[] = [];
    for await (const event of run)
      if (event.type === 'tool-call-end')
        ended.push(`${event.name} ${describeCode({ code: event.outcome.code ?? '', reason: event.outcome.reason })}`);
    expect(ended).toEqual(['overwrite policy.refused: read_before_write']);
  }
});

test('a tool with a prefix whose process ended under it is asked, reserved for and concluded as itself', async () => {
  const asked: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    effects: 'external',
    inputSchema: jsonSchema<{ readonly amount: number }>({
      type: 'object',
      properties: { amount: { type: 'number' } },
    }),
    // Its process ends meanwhile.
    execute: () => new Promise<number>(() => undefined),
    probe({ amount }, { idempotencyKey }) {
      asked.push(['probe', amount, idempotencyKey !== '']);
      return { type: 'done', value: amount };
    },
  });
  const money = definePolicy<string>({
    name: 'money',
    stateKind: 'keyed',
    tools: ['pay'],
    check: () => allow,
    reserve({ tool }, { callKey }) {
      asked.push(['reserve', tool.name]);
      return upsert(callKey, 'reserved');
    },
    onResult: ({ tool }) => upsert('spent', tool.name),
  });
  const bank = {
    name: 'bank',
    version: '1.0.0',
    description: 'x',
    holdfast: '>=0.0.0',
    tools: [pay],
    policies: [money],
  };
  const open = () => createRegistry().use(definePlugin(bank), { prefix: 'my', source: { digest: 'a'.repeat(64) } });
  const session = createSession();
  const begun = Promise.withResolvers<void>();
  session.subscribe(({ type }) => {
    if (type === 'tool-call-start') begun.resolve();
  });
  const first = open();
  const call = { id: 'c1', name: 'my_pay', arguments: { amount: 5 } };
  void executeToolCall(call, { tools: first.tools, policies: first.policies, session });
  await begun.promise;

  const again = replay([...session.records()]);
  const { tools, policies } = open();
  expect(await resumeToolCall('c1', { tools, policies, session: again })).toMatchObject({ kind: 'ok', value: 5 });
  expect(asked).toEqual([
    ['reserve', 'pay'],
    ['probe', 5, true],
  ]);
  const [policy] = policies;
  expect(policy?.id).toBe('bank-money');
  // The reservation ends with the call.
  expect(again.export().slices).toMatchObject([{ id: 'policy:host/bank-money', state: [['spent', 'pay']] }]);
});
