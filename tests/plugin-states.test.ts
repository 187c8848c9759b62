import {
  allow,
  append,
  clear,
  definePlugin,
  defineTool,
  jsonSchema,
  type Policy,
  remove,
  replace,
  type SliceKind,
  upsert,
} from '@holdfast/core';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createRegistry, type Registry } from '@holdfast/registry';
import { createSession, type Session } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/** Whatever a policy of a plugin makes of the success of others, it fails no call of theirs; and it learns what it could have kept. */

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
      tools: [],
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
    { numRuns: 1_000 },
  );
  expect(Math.min(kept, refused)).toBeGreaterThan(100);
});

test('so does one of a section', async () => {
  const watched = watching('value', new Map(), false);
  const throwing: Policy = {
    ...watched.policy,
    id: 'throwing',
    onResult: () => {
      throw new Error('not mine');
    },
  };
  const section = markdownSection({
    title: 'Mine',
    template: 'Text.',
    tools: [toolNamed('mine')],
    policies: [watched.policy, throwing],
  });
  const registry = createRegistry()
    .use(definePlugin({ name: 'watch', version: '1.0.0', description: 'x', holdfast: '>=0.0.0', sections: [section] }))
    .use(
      definePlugin({
        name: 'other',
        version: '1.0.0',
        description: 'x',
        holdfast: '>=0.0.0',
        tools: [toolNamed('theirs')],
      }),
    );
  const sections = [
    ...registry.sections,
    markdownSection({ title: 'Other', template: 'Text.', tools: registry.looseTools[0]?.tools ?? [] }),
  ];
  const prompt = createPrompt({ ns: 'tests', key: 'states', sections }).bind({});
  const calls = ['theirs', 'mine'].map((name) => ({ name, arguments: {} }));
  const model = scriptedModel([{ calls }, { text: 'Done.' }]);
  const run = runAgent({ model, prompt, session: createSession(), input: 'Go.', policies: registry.policies });
  const ended: string[] = [];
  for await (const event of run) if (event.type === 'tool-call-end') ended.push(`${event.name} ${event.outcome.kind}`);
  // Its own call it may fail.
  expect(ended).toEqual(['theirs ok', 'mine failed']);
});
