import type { Outcome, RunEvent } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession, type LogEntry, type LogRecord } from '@holdfast/session';
import fc from 'fast-check';
import { expect } from 'vitest';
import { hostPlace, memoryPlace, type Place } from '../files/random-places.ts';
import {
  arbitraryStep,
  argumentsOf,
  counters,
  macrotasks,
  makePolicy,
  makeTools,
  type Step,
} from '../plans/random-plans.ts';
import { diary, notes, testClock } from './call-fixtures.ts';

/** The cases that were seen, so that nothing passes for want of them. */
export interface Seen {
  /** Calls by the kind of their outcome, nested ones apart. */
  readonly kinds: Map<string, number>;
  nested: number;
  failing: number;
  /** Whose tool was run more than once. */
  retried: number;
}

export interface RandomCallOptions {
  readonly runs: number;
  readonly place: 'memory' | 'host';
}

/**
 * Random calls, one after another: each ends in exactly one outcome and one event, and so does everything nested in it; whatever
 * is not `ok` has left state and files as they were; whatever is `ok` has changed them by what its event says.
 */
export async function checkRandomCalls({ runs, place: kind }: RandomCallOptions, seen: Seen): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryStep, { minLength: 1, maxLength: 8 }), async (sequence) => {
      await using place = kind === 'memory' ? memoryPlace() : await hostPlace();
      await checkSequence(sequence, place, seen);
    }),
    { numRuns: runs },
  );
}

async function checkSequence(sequence: readonly Step[], place: Place, seen: Seen): Promise<void> {
  const records: LogRecord[] = [];
  const clock = testClock();
  const store = {
    append: (entry: LogEntry, seq: number, atMs: number) => void records.push({ seq, atMs, ...entry }),
    close: () => undefined,
  };
  const session = createSession({ id: 'random', slices: [notes, diary], store, clock });
  const tools = makeTools(clock);
  const policies = [0, 1, 2].map((index) => makePolicy(index, clock));
  const look = async (): Promise<{ notes: string[]; rest: string }> => ({
    notes: session.read(notes).toArray(),
    rest: JSON.stringify([counters.map((counter) => session.read(counter)), await place.look()]),
  });

  for (const [index, step] of sequence.entries()) {
    const before = await look();
    const events: RunEvent[] = [];
    const controller = new AbortController();
    if (step.abortAfter === 0) controller.abort();
    else if (step.abortAfter !== undefined) void abortLater(controller, step.abortAfter);
    const { answer } = step;
    const outcome = await executeToolCall(
      { id: `c${index}`, name: step.name, arguments: argumentsOf(step) },
      {
        tools,
        session,
        policies,
        resources: { filesystem: place.filesystem },
        clock,
        onEvent: (event) => void events.push(event),
        signal: controller.signal,
        ...(step.deadline ? { timeoutMs: 15 } : {}),
        ...(answer === undefined ? { unattended: true } : { approve: () => answerWith(answer, controller) }),
      },
    );
    if (outcome.kind === 'suspended') throw new Error('a person was there to ask');
    // Abandoned work ends, too.
    for (let quiet = 0; quiet < 6; quiet += 1) {
      await macrotasks(1);
      if (clock.pending > 0) {
        clock.advance();
        quiet = 0;
      }
    }
    // The subject of a question is digested beside this thread, in a time that cannot be counted.
    for (let round = 0; round < 10_000 && countOf(events, 'start') > countOf(events, 'end'); round += 1)
      await macrotasks(1);
    seen.kinds.set(outcome.kind, (seen.kinds.get(outcome.kind) ?? 0) + 1);
    if (outcome.kind !== 'ok') seen.failing += 1;
    if (outcome.attempts !== undefined) seen.retried += 1;
    seen.nested += checkEnds(outcome, events, records);

    const after = await look();
    expect([...after.notes, ...session.read(diary)]).not.toContain('too late');
    const committed = records.findLast(
      (record) => record.type === 'tool-call-end' && record['callId'] === outcome.callId,
    );
    if (outcome.kind !== 'ok') {
      expect(after, `${outcome.kind} ${outcome.code}`).toEqual(before);
      continue;
    }
    const noted = ((committed?.['events'] ?? []) as { payload: string }[]).map(({ payload }) => payload);
    expect(after.notes).toEqual([...before.notes, ...noted]);
    const written = ((committed?.['writes'] ?? []) as unknown[]).length > 0;
    const changed = ((committed?.['changes'] ?? []) as unknown[]).length > 0;
    if (!written && !changed) expect(after.rest).toBe(before.rest);
  }
}

function countOf(events: readonly RunEvent[], what: 'start' | 'end'): number {
  return events.filter(({ type }) => type === `tool-call-${what}`).length;
}

async function abortLater(controller: AbortController, microtasks: number): Promise<void> {
  for (let count = 0; count < microtasks; count += 1) await Promise.resolve();
  controller.abort();
}

function answerWith(
  answer: NonNullable<Step['answer']>,
  controller: AbortController,
): { type: 'approve' } | { type: 'deny' } | Promise<never> {
  switch (answer) {
    case 'approve':
    case 'deny':
      return { type: answer };
    case 'throw':
      throw new Error('no line');
    case 'never':
      // A call does not wait for a person forever.
      setImmediate(() => controller.abort());
      return new Promise(() => undefined);
  }
}

/** Every call that began has ended once, in the log as for subscribers. Answers how many of them were nested. */
function checkEnds(outcome: Outcome, events: readonly RunEvent[], records: readonly LogRecord[]): number {
  const started = events.flatMap((event) => (event.type === 'tool-call-start' ? [event.callId] : []));
  const ended = events.flatMap((event) => (event.type === 'tool-call-end' ? [event.callId] : []));
  const logged = records.flatMap((record) =>
    record.type === 'tool-call-end' && started.includes(String(record['callId'])) ? [String(record['callId'])] : [],
  );
  expect([...ended].sort()).toEqual([...started].sort());
  expect([...logged].sort()).toEqual([...started].sort());
  expect(new Set(started).size).toBe(started.length);
  const own = events.findLast((event) => event.type === 'tool-call-end' && event.callId === outcome.callId);
  expect(own).toMatchObject({ outcome: { kind: outcome.kind, code: outcome.code, text: outcome.text } });
  return started.length - 1;
}
