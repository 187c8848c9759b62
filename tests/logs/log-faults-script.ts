import {
  append,
  defineSlice,
  defineTool,
  type ListState,
  type Slice,
  type Tool,
  toolError,
  upsert,
} from '@holdfast/core';
import type { CallOptions } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { callBudget, readBeforeWrite, requireApproval, sequentialDependency } from '@holdfast/policy';
import type { Session } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import * as v from 'valibot';

export const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  schema: v.string(),
  reducers: { noted: (_state, payload) => append(payload) },
});
const tasks = defineSlice<{ key: string; title: string }>({
  id: 'tasks',
  kind: 'keyed',
  schema: v.object({ key: v.string(), title: v.string() }),
  reducers: { 'task-set': (_state, payload) => upsert((payload as { key: string }).key, payload) },
});
const diary = defineSlice<string>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  schema: v.string(),
  reducers: { happened: (_state, payload) => append(payload) },
});
export const slices: readonly Slice[] = [notes, tasks, diary];

const text = v.object({ text: v.string() });
type Text = v.InferOutput<typeof text>;

/** Which may be run again with the same key. */
export const repeatable: ReadonlySet<string> = new Set(['mail', 'ping']);

type Step = readonly [name: string, input?: Readonly<Record<string, string | number>>];

/** Calls by name and arguments: state, files, the world, nested, and every way in which a call comes to nothing. */
const round: readonly Step[] = [
  ['deploy', { text: 'too early' }],
  ['note', { text: 'one' }],
  ['write_file', { path: 'a.txt', content: 'first' }],
  ['read_file', { path: 'a.txt' }],
  ['write_file', { path: 'a.txt', content: 'second' }],
  ['task', { key: 'k', title: 'Think' }],
  ['lint'],
  ['build'],
  ['test'],
  ['deploy', { text: 'in time' }],
  ['mail', { text: 'to everybody' }],
  ['mail', { text: 'refused' }],
  ['ping', { text: 'there?' }],
  ['throws'],
  ['refuses', { text: 'no' }],
  ['note', { text: 7 }],
  ['no_such_tool'],
  ['write_later', { text: 'b.txt' }],
  ['diary', { text: 'a day' }],
  ['outer', { text: 'nested.txt' }],
  ['outer', { text: '' }],
  ['reset_all'],
  ['write_file', { path: '../out.txt', content: 'escaped' }],
  ['delete_file', { path: 'a.txt' }],
  ['wide_deploy', { text: 'nested' }],
];
export const script: readonly Step[] = [...round, ...round.map(again)];

/** The second round writes other content than the first. */
function again(step: Step): Step {
  const [name, input] = step;
  return input?.['content'] === undefined ? step : [name, { ...input, content: `${input['content']} again` }];
}

/** Everything outside the log. */
export class World {
  /** The effects that cannot be undone, by the call's id. */
  readonly effects: string[] = [];
  readonly filesystem: ReturnType<typeof memoryFilesystem> = memoryFilesystem({ 'b.txt': 'unread' });
  readonly tools: readonly Tool[];

  constructor() {
    const plain = (name: string, execute: Tool['execute'] & {}, more: object = {}): Tool =>
      defineTool({
        name,
        description: `Does ${name}.`,
        inputSchema: text,
        effects: 'state',
        execute,
        ...more,
      } as never) as Tool;
    const none = { inputSchema: undefined, effects: 'none' };
    const touch = plain('touch', (_input, { callId }) => this.#effect(callId), { effects: 'external' });
    this.tools = [
      ...fileTools(),
      touch,
      plain('note', (input, { session }) => session.dispatch({ type: 'noted', payload: (input as Text).text }) ?? null),
      plain('task', (input, { session }) => session.dispatch({ type: 'task-set', payload: input as never }) ?? null, {
        inputSchema: v.object({ key: v.string(), title: v.string() }),
      }),
      plain('diary', (input, { session }) => {
        session.publish({ type: 'happened', payload: (input as Text).text });
        session.dispatch({ type: 'noted', payload: 'wrote my diary' });
        return null;
      }),
      ...['lint', 'build', 'test'].map((name) => plain(name, () => null, none)),
      plain('deploy', (_input, { callId }) => this.#effect(callId), { effects: 'external' }),
      plain('mail', (_input, { callId }) => this.#effect(callId), { effects: 'external', repeat: 'keyed' }),
      plain('ping', (_input, { callId }) => this.#effect(callId), { effects: 'external', repeat: 'safe' }),
      plain('throws', () => Promise.reject(new Error('it broke')), none),
      plain('refuses', () => toolError('It is not wanted.', { code: 'tool.unwanted' })),
      plain('write_later', async (input, { filesystem }) => {
        // Unread: the policy sees it only when the tool has done it.
        await filesystem?.write((input as Text).text, 'later');
        throw new Error('changed its mind');
      }),
      plain('outer', async (input, { call, session }) => {
        session.dispatch({ type: 'noted', payload: 'around' });
        const path = (input as Text).text;
        const ends = [await call('note', { text: 'nested' }), await call('write_file', { path, content: 'nested' })];
        if (ends.some(({ kind }) => kind !== 'ok')) throw new Error('a nested call failed');
        return null;
      }),
      plain('wide_deploy', async (_input, { call }) => (await call('touch', { text: 'x' })).kind, {
        effects: 'external',
      }),
      plain('reset_all', () => null, { ...none, effects: 'state', dangerous: true }),
    ];
  }

  #effect(callId: string): null {
    this.effects.push(callId);
    return null;
  }

  options(session: Session): CallOptions {
    return {
      session,
      tools: this.tools,
      resources: { filesystem: this.filesystem },
      clock: manualClock(),
      policies: [
        sequentialDependency({ deploy: ['build', 'test'], build: ['lint'] }),
        callBudget({ maxCalls: 100 }),
        readBeforeWrite(),
        requireApproval({ tools: ['mail'] }),
      ],
      approve: ({ input, dangerous }) =>
        (input as Text).text === 'refused' ? { type: 'deny' } : { type: 'approve', grant: dangerous },
    };
  }

  async files(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    const { readOnly } = this.filesystem;
    for await (const { path } of readOnly.walk()) found[path] = await readOnly.readText(path);
    return found;
  }
}
