import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  allow,
  append,
  definePlugin,
  definePolicy,
  defineSlice,
  defineTool,
  deny,
  type ListState,
  type Outcome,
  type Prompt,
  type Slice,
  type Tool,
} from '@holdfast/core';
import type { BoundPolicy } from '@holdfast/core/types';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { watchTools } from '@holdfast/loader';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createRegistry } from '@holdfast/registry';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';

/* A tool or a policy that is added, removed or replaced counts from the next call on. Direct calls over changed lists: see
`changed-lists.test.ts` of the executor. */

const pages: Slice<ListState<string>> = defineSlice<string>({
  id: 'pages',
  kind: 'list',
  reducers: { turned: (_state, page) => append(String(page)) },
});
const turn = defineTool({
  name: 'turn',
  description: 'Turns the page.',
  effects: 'state',
  execute(_input, { session }) {
    session.dispatch({ type: 'turned', payload: 'next' });
    return 'turned';
  },
});
const look = (value: string): Tool =>
  defineTool({ name: 'look', description: 'Looks.', effects: 'none', execute: () => value });
const denying = (key: string, reason: string): BoundPolicy => ({
  key,
  policy: definePolicy({ name: 'denies', tools: ['look'], check: () => deny(reason) }),
});

interface Page {
  readonly tools: readonly Tool[];
  readonly policies?: readonly BoundPolicy[];
}

/** Every turn of the page shows the result of `load()`. */
function paged(load: () => Page): Prompt {
  return {
    name: 'test/pages',
    slices: [pages],
    toolNames: new Set(['turn', 'look']),
    render({ session }) {
      session?.read(pages);
      const { tools, policies = [] } = load();
      return { text: '', tools: [turn, ...tools], policies: new Map([['look', policies]]), allPolicies: policies };
    },
  };
}

const tell = ({ kind, code, value, message }: Outcome): unknown =>
  kind === 'ok' ? value : code === 'policy.denied' ? message : code;

/** One call a turn. */
async function run(prompt: Prompt, calls: readonly string[], args: object = {}): Promise<readonly unknown[]> {
  const model = scriptedModel([
    ...calls.map((name, at) => ({ calls: [{ id: `c${at}`, name, arguments: args }] })),
    { text: 'Done.' },
  ]);
  const { outcomes, status } = await runAgent({ model, prompt, session: createSession(), input: 'Go.' });
  expect(status).toBe('completed');
  return outcomes.map(tell);
}

test.each<[string, Page, Page, unknown, unknown]>([
  ['an added tool', { tools: [] }, { tools: [look('new')] }, 'tool.unknown', 'new'],
  ['a removed tool', { tools: [look('old')] }, { tools: [] }, 'old', 'tool.unknown'],
  ['a replaced tool', { tools: [look('old')] }, { tools: [look('new')] }, 'old', 'new'],
  [
    'an added policy',
    { tools: [look('free')] },
    { tools: [look('free')], policies: [denying('p', 'New.')] },
    'free',
    'Denied: New.',
  ],
  [
    'a removed policy',
    { tools: [look('free')], policies: [denying('p', 'Old.')] },
    { tools: [look('free')] },
    'Denied: Old.',
    'free',
  ],
  [
    'a replaced policy',
    { tools: [look('free')], policies: [denying('p', 'Old.')] },
    { tools: [look('free')], policies: [denying('p', 'New.')] },
    'Denied: Old.',
    'Denied: New.',
  ],
])('%s takes effect with the next page of a run', async (_name, before, after, first, then) => {
  let turned = false;
  const prompt = paged(() => (turned ? after : before));
  const render: Prompt['render'] = (view) => {
    turned = (view.session?.read(pages).size ?? 0) > 0;
    return prompt.render(view);
  };
  expect(await run({ ...prompt, render }, ['look', 'look', 'turn', 'look', 'look'])).toEqual([
    first,
    first,
    'turned',
    then,
    then,
  ]);
});

test('an opened section adds its tool and its policy', async () => {
  const prompt = createPrompt({
    ns: 'tests',
    key: 'opened',
    sections: [
      markdownSection({
        title: 'More',
        template: 'More.',
        summary: 'There is more.',
        visibility: 'summary',
        tools: [look('open'), { ...look('denied'), name: 'peek' }],
        policies: [
          definePolicy({ name: 'no-peek', check: ({ tool }) => (tool.name === 'peek' ? deny('Never.') : allow) }),
        ],
      }),
    ],
  });
  const model = scriptedModel([
    { calls: [{ id: 'a', name: 'look', arguments: {} }] },
    { calls: [{ id: 'b', name: 'open_sections', arguments: { section_keys: ['more'], reason: '' } }] },
    { calls: [{ id: 'c', name: 'look', arguments: {} }] },
    { calls: [{ id: 'd', name: 'peek', arguments: {} }] },
    { text: 'Done.' },
  ]);
  const { outcomes } = await runAgent({ model, prompt, session: createSession(), input: 'Go.' });
  expect(outcomes.map(tell)).toEqual(['tool.unknown', null, 'open', 'Denied: Never.']);
});

const toolFile = (name: string, value: string): string => `export const METADATA = {
  name: '${name}', function: 'work', description: 'Looks.', dangerous: false, parameters: { type: 'object', properties: {} },
};
export const work = () => '${value}';
`;

test.each<[string, (folder: string) => Promise<void>, readonly unknown[]]>([
  ['changed', (folder) => writeFile(join(folder, 'look.mjs'), toolFile('look', 'new')), ['old', 'turned', 'new']],
  ['removed', (folder) => rm(join(folder, 'look.mjs')), ['old', 'turned', 'tool.unknown']],
])('a tool file that is %s takes effect after a reload during the run', async (_what, change, expected) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-next-call-'));
  await writeFile(join(folder, 'look.mjs'), toolFile('look', 'old'));
  const watched = await watchTools(folder, { isolation: 'in-process' });
  try {
    const prompt = paged(() => ({ tools: watched.tools }));
    const reloading = defineTool({
      name: 'turn',
      description: 'Reloads.',
      effects: 'state',
      async execute(_input, { session }) {
        await change(folder);
        await watched.reload();
        // A page is rendered again when state that it has read changes.
        session.dispatch({ type: 'turned', payload: 'reloaded' });
        return 'turned';
      },
    });
    const render: Prompt['render'] = (view) => {
      const page = prompt.render(view);
      return { ...page, tools: [reloading, ...page.tools.slice(1)] };
    };
    expect(await run({ ...prompt, render }, ['look', 'turn', 'look'])).toEqual(expected);
  } finally {
    await watched.close();
    await rm(folder, { recursive: true });
  }
});

test('a new resolution of a registry takes effect with the next direct call', async () => {
  const session = createSession();
  const call = async (tool: Tool, policy?: BoundPolicy): Promise<unknown> => {
    const plugin = definePlugin({
      name: 'eyes',
      version: '1.0.0',
      description: 'Looks.',
      holdfast: '*',
      tools: [tool],
      ...(policy === undefined ? {} : { policies: [policy.policy] }),
    });
    const { tools, policies } = createRegistry().use(plugin);
    const outcome = await executeToolCall({ name: tool.name, arguments: {} }, { tools, policies, session });
    return outcome.kind === 'suspended' ? outcome.kind : tell(outcome);
  };
  expect(await call(look('old'))).toBe('old');
  expect(await call(look('new'))).toBe('new');
  expect(await call(look('new'), denying('p', 'No.'))).toBe('Denied: No.');
  expect(await call(look('newest'))).toBe('newest');
});
