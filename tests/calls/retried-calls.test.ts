import { defineTool, type Outcome, type RunEvent, type Tool, type ToolContext, toolError } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { readBeforeWrite } from '@holdfast/policy';
import { createSession, type LogEntry, type LogRecord, replay } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostPlace, memoryPlace, type Place } from '../files/random-places.ts';
import { diary, notes, testClock } from './call-fixtures.ts';

const paths = ['a.txt', 'kept.txt', 'deep/er/b.txt', '../out.txt'] as const;
const deeds = [
  'note',
  'publish',
  'write',
  'remove',
  'read',
  'nest',
  'nest-failing',
  'nest-retried',
  'nest-outside',
] as const;
const endings = ['ok', 'throw', 'error', 'undefined'] as const;

/** One attempt, and its result. */
interface Attempt {
  readonly deeds: readonly { readonly do: (typeof deeds)[number]; readonly path: string; readonly text: string }[];
  readonly ending: (typeof endings)[number];
}

const arbitraryAttempt: fc.Arbitrary<Attempt> = fc.record({
  deeds: fc.array(
    fc.record({ do: fc.constantFrom(...deeds), path: fc.constantFrom(...paths), text: fc.string({ maxLength: 3 }) }),
    { maxLength: 4 },
  ),
  ending: fc.constantFrom('ok', 'throw', 'throw', 'error', 'error', 'undefined'),
});

async function act({ do: what, path, text }: Attempt['deeds'][number], context: ToolContext): Promise<void> {
  const { session, filesystem, call } = context;
  switch (what) {
    case 'note':
      session.dispatch({ type: 'noted', payload: text });
      break;
    case 'publish':
      session.publish({ type: 'happened', payload: text });
      break;
    case 'write':
      await filesystem?.write(path, text);
      break;
    case 'remove':
      if ((await filesystem?.stat(path))?.type === 'file') await filesystem?.remove(path);
      break;
    case 'read':
      if ((await filesystem?.stat(path))?.type === 'file') await filesystem?.readText(path);
      break;
    default:
      await call(what.slice('nest'.length + 1) || 'inner', {});
  }
}

/** A tool that does what `attempts` say, one after another, and what the last one says from then on. */
function toolOf(attempts: readonly Attempt[], retries: number): Tool {
  let begun = 0;
  return defineTool<unknown, unknown>({
    name: 'subject',
    description: 'Does what it is told.',
    effects: 'external',
    repeat: 'keyed',
    ...(retries < 2 ? {} : { retry: { attempts: retries, delayMs: 0 } }),
    async execute(_input, context) {
      const attempt = attempts[Math.min(begun, attempts.length - 1)];
      begun += 1;
      for (const deed of attempt?.deeds ?? []) await act(deed, context);
      if (attempt?.ending === 'throw') throw new Error('broke');
      if (attempt?.ending === 'error') return toolError('No.', { code: 'busy', value: { left: 1 } });
      return attempt?.ending === 'ok' ? 'done' : (undefined as never);
    },
  });
}

/** Tools that are called from within, each of which notes and writes its own name. */
function innerTools(): readonly Tool[] {
  const failed = new Set<string>();
  const inner = (name: string, then: (context: ToolContext) => unknown, extra: object = {}): Tool =>
    defineTool<unknown, unknown>({
      name,
      description: 'Is called.',
      effects: 'state',
      ...extra,
      async execute(_input, context) {
        context.session.dispatch({ type: 'noted', payload: name });
        await context.filesystem?.write(`${name}.txt`, name);
        return then(context) as never;
      },
    });
  return [
    inner('inner', () => 1),
    inner('failing', () => toolError('No.')),
    inner('outside', () => 1, { effects: 'external' }),
    inner(
      'retried',
      ({ callId }) => {
        if (failed.has(callId)) return 2;
        failed.add(callId);
        throw new Error('not yet');
      },
      { repeat: 'safe', retry: { attempts: 2, delayMs: 0 } },
    ),
  ];
}

interface Life {
  readonly outcome: Outcome;
  readonly notes: readonly string[];
  readonly diary: readonly string[];
  readonly files: unknown;
  readonly end: LogRecord | undefined;
  readonly records: readonly LogRecord[];
  readonly events: readonly RunEvent[];
}

async function live(tool: Tool, place: Place): Promise<Life> {
  const records: LogRecord[] = [];
  const events: RunEvent[] = [];
  const clock = testClock();
  const store = {
    append: (entry: LogEntry, seq: number, atMs: number) => void records.push({ seq, atMs, ...entry }),
    close: () => undefined,
  };
  const session = createSession({ id: 'retried', slices: [notes, diary], store, clock });
  const outcome = await executeToolCall(
    { id: 'c', name: 'subject', arguments: {} },
    {
      tools: [tool, ...innerTools()],
      session,
      policies: [readBeforeWrite()],
      resources: { filesystem: place.filesystem },
      clock,
      onEvent: (event) => void events.push(event),
    },
  );
  if (outcome.kind === 'suspended') throw new Error('No person is asked.');
  const rebuilt = replay(records, { slices: [notes, diary] });
  const own = session.read(notes).toArray();
  expect(rebuilt.read(notes).toArray()).toEqual(own);
  return {
    outcome,
    notes: own,
    diary: session.read(diary).toArray(),
    files: await place.look(),
    end: records.find(({ type, callId }) => type === 'tool-call-end' && callId === 'c'),
    records,
    events,
  };
}

/** Which attempt is the last one by the rules. */
function lastOf(attempts: readonly Attempt[], retries: number): number {
  for (let index = 0; ; index += 1) {
    const attempt = attempts[Math.min(index, attempts.length - 1)];
    const failed = attempt?.ending === 'throw' || attempt?.ending === 'error' || breaks(attempt);
    const outside = attempt?.deeds.some((deed, at) => deed.do === 'nest-outside' && !breaksBefore(attempt, at));
    if (!failed || outside === true || index + 1 >= retries) return index;
  }
}

/** A path that leads out of the workspace is refused, which nobody catches. */
function breaks(attempt: Attempt | undefined): boolean {
  return attempt !== undefined && breaksBefore(attempt, attempt.deeds.length);
}

function breaksBefore({ deeds: done }: Attempt, end: number): boolean {
  return done
    .slice(0, end)
    .some(({ do: what, path }) => ['write', 'remove', 'read'].includes(what) && path === '../out.txt');
}

test.each([
  { where: 'memory', runs: 60 },
  { where: 'host', runs: 6 },
] as const)(
  'property: a call with several attempts comes out as if its last one had been the only one ($where)',
  async ({ where, runs }) => {
    let repeated = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryAttempt, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 2, max: 5 }),
        async (attempts, retries) => {
          const last = lastOf(attempts, retries);
          const only = attempts[Math.min(last, attempts.length - 1)] as Attempt;
          await using place = where === 'memory' ? memoryPlace() : await hostPlace();
          await using other = where === 'memory' ? memoryPlace() : await hostPlace();
          const life = await live(toolOf(attempts, retries), place);
          const single = await live(toolOf([only], 1), other);

          expect({ notes: life.notes, files: life.files }).toEqual({ notes: single.notes, files: single.files });
          expect(life.end).toMatchObject({
            events: single.end?.['events'],
            writes: single.end?.['writes'],
            ...(single.end?.['changes'] === undefined ? {} : { changes: single.end['changes'] }),
          });
          const { message, text, attempts: tried, ...rest } = life.outcome;
          const { message: said, text: _text, attempts: _once, ...expected } = single.outcome;
          expect(rest).toEqual(expected);
          expect(tried ?? 1).toBe(last + 1);
          const failed = life.outcome.kind !== 'ok';
          expect(message).toBe(failed && last > 0 ? `Tried ${last + 1} times. ${said}` : said);
          expect(text.startsWith(failed ? message : '')).toBe(true);
          if (last > 0) repeated += 1;

          const published = attempts
            .concat(Array.from({ length: retries }, () => attempts.at(-1) as Attempt))
            .slice(0, last + 1)
            .flatMap(({ deeds: done }) =>
              done.filter((deed, at) => deed.do === 'publish' && !breaksBefore({ deeds: done, ending: 'ok' }, at)),
            )
            .map((deed) => deed.text);
          expect(life.diary).toEqual(published);

          const own = life.events.filter((event) => event.type === 'tool-call-retry' && event.callId === 'c');
          expect(own).toHaveLength(last);
          expect(life.end?.['retries'] ?? []).toHaveLength(last);
          const ends = life.records.filter(({ type }) => type === 'tool-call-end').map(({ callId }) => callId);
          expect(new Set(ends).size).toBe(ends.length);
        },
      ),
      { numRuns: runs },
    );
    // So that the property cannot hold for want of cases.
    expect(repeated).toBeGreaterThan(runs / 5);
  },
);
