import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  append,
  defineSlice,
  defineTool,
  type Json,
  type ListState,
  type Model,
  type Outcome,
  type Slice,
  type Tool,
  type ToolCall,
} from '@holdfast/core';
import type { EffectCheck } from '@holdfast/core/types';
import {
  answerApproval,
  type CallOptions,
  executeToolCall,
  pendingApprovals,
  type RunAgentOptions,
  recoverSession,
  resumeRun,
  resumeToolCall,
  runAgent,
} from '@holdfast/executor';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { callBudget, readBeforeWrite, requireApproval } from '@holdfast/policy';
import { createSession, type OpenedLog, replay, type Session } from '@holdfast/session';
import { createJsonlLog, openJsonlLog } from '@holdfast/session/jsonl';
import { createSqliteLog, openSqliteLog } from '@holdfast/session/sqlite';
import * as v from 'valibot';
import { doubts, readEffects } from './recovery-kills-check.ts';
import { shortKey } from './short-key.ts';

export type StoreKind = 'jsonl' | 'sqlite';

/** Where a session lives that is killed again and again. */
export interface Home {
  readonly store: StoreKind;
  readonly folder: string;
  /** Of the text that a large part of the records carries. */
  readonly bytes: number;
  readonly sync: 'process' | 'disk';
}

export const sessionId = 's';

export function logPath({ store, folder }: Home): string {
  return join(folder, store === 'jsonl' ? 's.jsonl' : 's.db');
}

function workspacePath({ folder }: Home): string {
  return join(folder, 'workspace');
}

/** One life of the session's process. */
export interface Life {
  readonly session: Session;
  readonly options: CallOptions;
  /** Records that the log had when it was opened. */
  readonly found: number;
}

export const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  schema: v.string(),
  // Its state is short, since it is checked after every kill.
  reducers: { noted: (_state, payload) => append(String(payload).slice(0, 20)) },
});

/** Opens the log, or begins it. */
export function openLife(home: Home): Life {
  const path = logPath(home);
  const slices = [notes];
  mkdirSync(workspacePath(home), { recursive: true });
  const { records, store } = openStore(home, path);
  // A process that was killed before its first record leaves a log without one.
  const session =
    records.length === 0 ? createSession({ id: sessionId, slices, store }) : replay(records, { slices, store });
  const filesystem = hostFilesystem(workspacePath(home));
  const options = {
    session,
    tools: makeTools(home),
    resources: { filesystem },
    policies: [callBudget({ maxCalls: 1_000_000 }), readBeforeWrite(), requireApproval({ tools: ['gated'] }), doubts],
  };
  const last = records.at(-1);
  return { session, options, found: last === undefined ? 0 : last.seq + 1 };
}

function openStore({ store, bytes, sync }: Home, path: string): OpenedLog {
  // A snapshot every few dozens of records, which is a new file of a log in files.
  const options = { sync, snapshotAfterBytes: 15_000 + 10 * bytes };
  if (store === 'jsonl') {
    return existsSync(path) ? openJsonlLog(path, options) : { records: [], store: createJsonlLog(path, options) };
  }
  try {
    return openSqliteLog(path, { sessionId, ...options });
  } catch (error) {
    // Neither the database nor the session in it may be there yet.
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'log.missing') throw error;
    return { records: [], store: createSqliteLog(path, { sessionId, ...options }) };
  }
}

/** `old`: pairs to remove. */
const numbered = v.object({ number: v.number(), text: v.string(), old: v.optional(v.array(v.number()), []) });
type Numbered = v.InferOutput<typeof numbered>;

function makeTools({ folder }: Home): readonly Tool[] {
  // The world takes its time, before and after.
  const world = async (file: string, key: string): Promise<Json> => {
    await wait(Math.random() * 2);
    appendFileSync(join(folder, `${file}.txt`), `${key}\n`);
    await wait(Math.random() * 2);
    return { done: key };
  };
  const make = (name: string, more: Partial<Tool> & Pick<Tool, 'execute'>): Tool =>
    defineTool({ name, description: `Does ${name}.`, inputSchema: numbered, ...more } as never) as Tool;
  return [
    make('look', { effects: 'none', execute: (input) => (input as Numbered).number as never }),
    make('note', {
      effects: 'state',
      execute(input, { session }) {
        session.dispatch({ type: 'noted', payload: (input as Numbered).text });
        return null as never;
      },
    }),
    make('deploy', { execute: (_input, { idempotencyKey }) => world('deploy', idempotencyKey) as never }),
    make('gated', { execute: (_input, { idempotencyKey }) => world('gated', idempotencyKey) as never }),
    make('mail', {
      repeat: 'keyed',
      execute: (_input, { idempotencyKey }) => world('mail', idempotencyKey) as never,
    }),
    // By itself it may be repeated, but not what it calls.
    make('outer', {
      repeat: 'keyed',
      async execute(input, { call, idempotencyKey }) {
        const { kind } = await call('deploy', { ...(input as Numbered), text: '' });
        await world('outer', idempotencyKey);
        return kind as never;
      },
    }),
    make('post', {
      execute: (_input, { idempotencyKey }) => world('post', idempotencyKey) as never,
      probe: (_input, { idempotencyKey }): EffectCheck => ({
        type: readEffects(folder, 'post').includes(idempotencyKey) ? 'done' : 'not-done',
      }),
    }),
    make('release', {
      async execute(_input, { idempotencyKey, filesystem }) {
        await filesystem?.write('release.txt', shortKey(idempotencyKey));
        return (await world('release', idempotencyKey)) as never;
      },
    }),
    make('write_pair', {
      effects: 'state',
      async execute(input, { filesystem }) {
        const { number, text, old } = input as Numbered;
        await filesystem?.write(`left/${number}.txt`, text);
        await filesystem?.write(`right/deep/${number}.txt`, text);
        await filesystem?.write('latest.txt', text);
        for (const path of old.flatMap((gone) => [`left/${gone}.txt`, `right/deep/${gone}.txt`])) {
          await filesystem?.remove(path);
        }
        return null as never;
      },
    }),
  ];
}

/** Settles calls in flight, answers what waits, and resumes every run. */
export async function recoverLife({ session, options }: Life): Promise<void> {
  const { failures } = await recoverSession(options);
  if (failures.length > 0) throw new Error(`Not recovered: ${JSON.stringify(failures)}`);
  await answerAll(session);
  for (const { callId, run } of session.openWork().calls) {
    if (run === undefined) await finishCall(callId, options);
  }
  for (const { run } of session.openWork().runs) await finishRun({ ...options, run });
  const left = session.openWork();
  if (left.calls.length + left.runs.length > 0) throw new Error(`Left open: ${JSON.stringify(left)}`);
}

async function answerAll(session: Session): Promise<void> {
  for (const pending of pendingApprovals(session)) await answerApproval(session, pending, { type: 'approve' });
}

async function finishCall(callId: string, options: CallOptions): Promise<Outcome> {
  const outcome = await resumeToolCall(callId, options);
  if (outcome.kind === 'suspended') throw new Error(`\`${callId}\` was answered and still waits.`);
  return outcome;
}

async function finishRun({ run, ...options }: CallOptions & { readonly run: number }): Promise<void> {
  for (;;) {
    const { status } = await resumeRun({ ...forRun(options), run }).result;
    if (status === 'completed') return;
    if (status !== 'suspended') throw new Error(`The run ${run} ended as ${status}.`);
    await answerAll(options.session as Session);
  }
}

function forRun({ tools, ...options }: CallOptions): Omit<RunAgentOptions, 'input'> & Pick<CallOptions, 'session'> {
  const prompt = { name: 'kills', render: () => ({ text: 'Work.', tools, policies: new Map(), allPolicies: [] }) };
  return { ...options, model, prompt };
}

/** Asks for two turns of calls, then is content. What it says depends on the conversation alone, as after a restart. */
const model: Model = {
  id: 'test:kills',
  async *stream({ messages }) {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    const [first] = messages.flatMap((message) => (message.role === 'user' ? [message.text] : []));
    const number = Number(first) + turn;
    if (turn === 2) {
      yield { type: 'text-delta', text: 'Done.' };
      yield { type: 'finish', reason: 'stop' };
      return;
    }
    const names = turn === 0 ? ['look', 'look', 'write_pair', 'gated', 'note'] : ['deploy', 'mail', 'look', 'post'];
    for (const [index, name] of names.entries()) {
      yield { type: 'tool-call', id: `m${index}`, name, arguments: { number, text: `run ${number}` } };
    }
    yield { type: 'finish', reason: 'tool-calls' };
  },
};

const script = [
  'note',
  'deploy',
  'write_pair',
  'mail',
  'post',
  'run',
  'gated',
  'write_pair',
  'release',
  'outer',
  'look',
];

export interface Work {
  /** How many calls and runs; `Infinity`: until the process ends. */
  readonly steps: number;
  /** Hears of every outcome before the next call. */
  readonly told: (key: string, kind: string) => void;
}

/** Makes calls and runs. */
export async function workOn(life: Life, home: Home, { steps, told }: Work): Promise<void> {
  const { session } = life;
  const first = session.snapshot().seq;
  // Every call leaves a record, so no number comes twice; and no two lives begin with the same call.
  for (let step = first; step < first + steps; step += 1) {
    const number = session.snapshot().seq;
    const name = script[step % script.length] ?? '';
    if (name === 'run') await makeRun(life, number);
    else await makeCall(life, { id: `d${number}`, name, arguments: makeInput(home, number) }, told);
  }
}

function makeInput(home: Home, number: number): Numbered {
  const left = join(workspacePath(home), 'left');
  const numbers = existsSync(left) ? readdirSync(left).map((name) => Number.parseInt(name, 10)) : [];
  const old = numbers.filter(Number.isSafeInteger).toSorted((a, b) => a - b);
  return { number, text: `${number} `.padEnd(home.bytes, '.'), old: old.slice(0, -2) };
}

async function makeRun({ session, options }: Life, number: number): Promise<void> {
  const { status } = await runAgent({ ...forRun(options), input: String(number) }).result;
  if (status !== 'suspended') throw new Error(`The run ended as ${status}.`);
  await answerAll(session);
  const run = session.openWork().runs.at(-1)?.run;
  if (run === undefined) throw new Error('The run that waits is not open.');
  await finishRun({ ...options, run });
}

async function makeCall(
  { session, options }: Life,
  call: ToolCall & { readonly id: string },
  told: (key: string, kind: string) => void,
): Promise<void> {
  const ended = await executeToolCall(call, options);
  if (ended.kind === 'suspended') await answerAll(session);
  const { kind } = ended.kind === 'suspended' ? await finishCall(call.id, options) : ended;
  told(call.id, kind);
}
