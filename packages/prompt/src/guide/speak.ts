import {
  defineSlice,
  type FeedbackProvider,
  type KeyedState,
  type Operation,
  type Prompt,
  type Slice,
  upsert,
} from '@holdfast/core';
import { deepFreeze, describeThrown } from '@holdfast/core/internal';
import type { FeedbackEvent, FeedbackTrigger, FileStat, GuidedRun, Speaker } from '@holdfast/core/types';
import { hear, toGuidanceContext } from './hear.ts';

/** The last recorded progress of a prompt or a provider. */
type Cadence = {
  /** Completed calls of the prompt. */
  readonly calls: number;
  readonly askedAtMs?: number;
  /** Files seen so far. */
  readonly files?: readonly string[];
};

/** By prompt, and by prompt and provider. Without reducers: a log is replayed without this definition. */
const cadences: Slice<KeyedState<Cadence>> = defineSlice<Cadence>({
  id: 'holdfast/feedback',
  kind: 'keyed',
  reducers: {},
});

/** Completed calls of the prompt in the session. */
export function countedCalls({ scope, prompt }: Speaker): number {
  return scope.session.read(cadences).get(idOf(prompt))?.calls ?? 0;
}

/**
 * Counts the calls of a turn and asks the providers that are due, in order, as one record. Returns the text for the
 * model, `''` for none.
 */
export async function giveFeedback(
  speaker: Speaker,
  { ended, startedAtMs }: { readonly ended: number; readonly startedAtMs: number },
): Promise<string> {
  const { scope, prompt, rendered } = speaker;
  const id = idOf(prompt);
  const calls = countedCalls(speaker) + ended;
  const operations: Operation[] = [];
  const given: { readonly name: string; readonly text: string }[] = [];
  const failed: { readonly name: string; readonly message: string }[] = [];
  const context = toGuidanceContext(scope, calls);
  for (const provider of rendered.feedback ?? []) {
    if (scope.lifetime.ended !== undefined) break;
    const { name } = provider;
    const key = `${id}#${name}`;
    const last = scope.session.read(cadences).get(key) ?? { calls: 0 };
    const nowMs = scope.clock.now();
    const due = await findDue(provider, last, { calls, nowMs, startedAtMs, scope });
    for (const message of due.failed) failed.push({ name, message });
    if (!due.is) continue;
    const heard = await hear(() => provider.provide(context), scope, scope.policyTimeoutMs);
    // A resumed run asks again.
    if (heard.type === 'ended') break;
    operations.push(upsert(key, { calls, askedAtMs: nowMs, files: [...(last.files ?? []), ...due.files] }));
    if (heard.type === 'failed') failed.push({ name, message: heard.message });
    else if (typeof heard.value === 'string') {
      if (heard.value.trim() !== '') given.push({ name, text: heard.value });
    } else if (heard.value !== undefined) failed.push({ name, message: 'It did not return a string.' });
  }
  // Another run of the prompt may have counted calls while the providers ran.
  const counted = upsert(id, { calls: countedCalls(speaker) + ended });
  noteFeedback(speaker, { source: 'provider', calls, given, failed }, [counted, ...operations]);
  return given.map(({ text }) => text).join('\n\n');
}

/** Counts the calls of a run's last turn, which gets no feedback. */
export function countLast(speaker: Speaker, ended: number): void {
  const calls = countedCalls(speaker) + ended;
  const counted = upsert(idOf(speaker.prompt), { calls });
  noteFeedback(speaker, { source: 'provider', calls, given: [], failed: [] }, [counted]);
}

/** Writes to the log and notifies listeners if there is feedback or a failure. */
export function noteFeedback(
  { scope, prompt }: Speaker,
  said: Pick<FeedbackEvent, 'source' | 'calls' | 'given' | 'failed'>,
  operations: readonly Operation[] = [],
): void {
  const { session, run, emit } = scope;
  const { startSeq = 0, turn = 0 } = run ?? {};
  // Sent to listeners; the run continues with the other messages.
  const event: FeedbackEvent = deepFreeze({ type: 'feedback', run: startSeq, turn, prompt: idOf(prompt), ...said });
  const transaction = session.begin();
  try {
    transaction.apply(cadences, operations);
    const { given, failed } = said;
    transaction.commit({
      ...event,
      given: [...given],
      failed: [...failed],
      events: [],
      changes: [...transaction.changes],
    });
  } finally {
    transaction.discard();
  }
  if (said.given.length + said.failed.length > 0) emit?.({ ...event });
}

interface Now {
  readonly calls: number;
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly scope: GuidedRun;
}

interface Due {
  readonly is: boolean;
  /** New since the provider last ran. */
  readonly files: readonly string[];
  readonly failed: readonly string[];
}

async function findDue({ triggers }: FeedbackProvider, last: Cadence, now: Now): Promise<Due> {
  let is = false;
  const files: string[] = [];
  const failed: string[] = [];
  for (const trigger of triggers) {
    try {
      if (!(await isDue(trigger, last, now))) continue;
      is = true;
      if (trigger.type === 'file-created') files.push(trigger.path);
    } catch (thrown) {
      failed.push(describeThrown(thrown));
    }
  }
  return { is, files, failed };
}

function isDue(trigger: FeedbackTrigger, last: Cadence, now: Now): boolean | Promise<boolean> {
  switch (trigger.type) {
    case 'calls':
      return now.calls - last.calls >= trigger.every;
    case 'seconds':
      return now.nowMs - Math.max(last.askedAtMs ?? 0, now.startedAtMs) >= trigger.every * 1_000;
    case 'file-created': {
      const { path } = trigger;
      return last.files?.includes(path) !== true && isFile(path, now.scope);
    }
    default:
      return trigger satisfies never;
  }
}

/** @throws Error if the lookup fails. */
async function isFile(path: string, scope: GuidedRun): Promise<boolean> {
  const { filesystem } = scope.surroundings;
  if (filesystem === undefined) return false;
  const heard = await hear(() => filesystem.stat(path), scope, scope.policyTimeoutMs);
  if (heard.type === 'failed') throw new Error(heard.message);
  if (heard.type === 'ended') return false;
  // The return type of `stat`.
  const stat = heard.value as FileStat | undefined;
  return stat?.type === 'file';
}

function idOf({ id, name }: Prompt): string {
  return id ?? name;
}
