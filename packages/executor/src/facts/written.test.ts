import { allow, definePolicy, type Policy, type Tool } from '@holdfast/core';
import { memoryStore } from '@holdfast/session';
import { expect, test } from 'vitest';
import { call, playing, stop, testSession } from '../fixtures.ts';
import { executeToolCall, runAgent } from '../index.ts';
import { file, kindOf, source, tool, tools, view } from '../test-facts.ts';
import { life } from '../test-resume.ts';

/** True if a policy sees that the session wrote the file. */
function askWritten(path: string, answers: (boolean | undefined)[]): Policy {
  return definePolicy({
    name: 'written',
    check: (_call, { place }) => {
      answers.push(place?.written?.(path));
      return allow;
    },
  });
}

test.each([
  { what: 'a file', writes: [file('/w/x.sh')], path: '/w/x.sh', written: true },
  { what: 'another file', writes: [file('/w/x.sh')], path: '/w/x.sh.bak', written: false },
  { what: 'a file below a file', writes: [file('/w/x')], path: '/w/x/y', written: false },
  {
    what: 'a file in a folder',
    writes: [{ ...file('/w/d'), recursive: { skips: [] } }],
    path: '/w/d/e/f',
    written: true,
  },
  { what: 'a file in the root', writes: [{ ...file('/'), recursive: { skips: [] } }], path: '/w/f', written: true },
  {
    what: 'a file beside a folder',
    writes: [{ ...file('/w/d'), recursive: { skips: [] } }],
    path: '/w/de',
    written: false,
  },
  {
    what: 'a file that Git writes from its own',
    writes: [{ ...file('/w'), recursive: { skips: ['untracked' as const] } }],
    path: '/w/f',
    written: false,
  },
])('$what: written is $written', async ({ writes, path, written }) => {
  const answers: (boolean | undefined)[] = [];
  const { session } = testSession();
  const facts = source(() => ({ writes }));
  const options = { tools, session, facts, policies: [askWritten(path, answers)] };
  await kindOf('act', {}, options);
  await kindOf('look', {}, options);
  expect(answers).toEqual([false, written]);
});

test.each<[string, Tool['execute'], string]>([
  [
    'fails',
    () => {
      throw new Error('after it wrote');
    },
    'failed',
  ],
  ['succeeds', () => null, 'ok'],
])(
  'a call that %s has written, also when state rolls back and the log is opened again',
  async (_what, execute, kind) => {
    const answers: (boolean | undefined)[] = [];
    const { session, reopen, clock } = life();
    const before = session.snapshot();
    const facts = source(() => ({ writes: [file('/w/x.sh')] }));
    const options = { tools: [tool('act', 'external', execute), tool('look', 'none')], facts, clock };
    expect(await kindOf('act', {}, { ...options, session })).toBe(kind);
    session.restore(before);
    const policies = [askWritten('/w/x.sh', answers)];
    await kindOf('look', {}, { ...options, session, policies });
    await kindOf('look', {}, { ...options, session: reopen(), policies });
    await kindOf('look', {}, { ...options, session: session.fork({ store: memoryStore() }), policies });
    expect(answers).toEqual([true, true, true]);
  },
);

test('what the host says is written stays so, and describers are told', async () => {
  const facts = source();
  const { session } = testSession();
  const told = { ...facts, view: { ...view, written: (path: string) => path === '/w/mine' } };
  await kindOf('act', {}, { tools, session, facts: told });
  expect(facts.views.map((seen) => [seen.written?.('/w/mine'), seen.written?.('/w/yours')])).toEqual([[true, false]]);
});

test('a file is noted once', async () => {
  const { session, records } = testSession();
  const options = { tools, session, facts: source(() => ({ writes: [file('/w/x'), file('/w/x')] })) };
  await executeToolCall({ name: 'act', arguments: {} }, options);
  await executeToolCall({ name: 'act', arguments: {} }, options);
  expect(records.filter(({ type }) => type === 'event')).toMatchObject([
    { changes: [{ slice: 'holdfast/written', key: '/w/x' }] },
  ]);
});

test('calls and runs within a call have the facts and the request of the host, and note what they write for all', async () => {
  const seen: unknown[] = [];
  const answers: (boolean | undefined)[] = [];
  const { session, ends } = testSession();
  const watching = definePolicy({
    name: 'watching',
    check: ({ tool: { name }, facts }, { request }) => {
      seen.push([name, facts?.writes.length, request]);
      return allow;
    },
  });
  const outer = tool('outer', 'external', async (_input, context) => {
    await context.call('act', { path: '/w/nested' });
    const child = context.child();
    await runAgent({
      model: playing([call('act', { path: '/w/child' }), stop], [stop]),
      instructions: '',
      tools,
      session: child,
      policies: [watching],
      input: 'What a model wrote.',
    });
    return null;
  });
  const facts = source(({ path }) => ({ writes: path === undefined ? [] : [file(path)] }));
  const options = { tools: [...tools, outer], session, facts, request: 'What the user wrote.' };
  expect(await kindOf('outer', {}, { ...options, policies: [watching] })).toBe('ok');
  expect(seen).toEqual([
    ['outer', 0, 'What the user wrote.'],
    ['act', 1, 'What the user wrote.'],
    ['act', 1, 'What the user wrote.'],
  ]);
  for (const path of ['/w/nested', '/w/child'])
    await kindOf('look', {}, { ...options, policies: [askWritten(path, answers)] });
  expect(answers).toEqual([true, true]);
  expect(ends()[0]?.['facts']).toMatchObject({ writes: [file('/w/nested')] });
});
