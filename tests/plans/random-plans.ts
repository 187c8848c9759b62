import {
  allow,
  ask,
  definePolicy,
  defineSlice,
  defineTool,
  deny,
  type Json,
  type Policy,
  type Slice,
  type Tool,
  type ToolContext,
  toolError,
} from '@holdfast/core';
import fc from 'fast-check';
import * as v from 'valibot';
import { cycle, hang, revokedProxy, type TestClock, thrown } from '../calls/call-fixtures.ts';

const steps = ['note', 'publish', 'write', 'remove', 'make', 'read', 'call', 'pause'] as const;
const endings = [
  'ok',
  'error',
  'throw',
  'throw-null',
  'throw-proxy',
  'undefined',
  'function',
  'cycle',
  'bad-output',
  'bad-render',
  'bad-note',
  'bad-path',
  'hang',
  'late',
] as const;
const verdicts = [
  'allow',
  'deny',
  'ask',
  'throw',
  'nothing',
  'late-allow',
  'hang',
  'break-result',
  'break-state',
] as const;
const paths = ['a.txt', 'kept.txt', 'deep/er/b.txt', '../out.txt', 'kept.txt/below', 'ignored/c.txt', ''] as const;

/** A tool's instruction, and the policies' answer to it. */
export interface Plan {
  readonly steps: readonly {
    readonly do: (typeof steps)[number];
    readonly path: string;
    readonly text: string;
  }[];
  readonly ending: (typeof endings)[number];
  readonly verdicts: readonly (typeof verdicts)[number][];
  /** How many attempts fail before that, of a tool that may be tried again. */
  readonly failures?: number | undefined;
  /** The tool that the step `call` calls. */
  readonly inner?: { readonly name: string; readonly input: unknown } | undefined;
}

const planSchema: v.GenericSchema<Plan> = v.object({
  steps: v.array(v.object({ do: v.picklist(steps), path: v.string(), text: v.string() })),
  ending: v.picklist(endings),
  verdicts: v.array(v.picklist(verdicts)),
  failures: v.optional(v.number()),
  inner: v.optional(v.object({ name: v.string(), input: v.looseObject({}) })),
});

const toolNames = ['read', 'change', 'send', 'resend', 'retry'] as const;
const effects = { read: 'none', change: 'state', send: 'external', resend: 'external', retry: 'external' } as const;
const again = { resend: { repeat: 'safe' }, retry: { repeat: 'keyed', retry: { attempts: 3, delayMs: 0 } } } as const;

export function makeTools(clock: TestClock): readonly Tool[] {
  const begun = new Map<string, number>();
  const countFailure = ({ idempotencyKey }: ToolContext): number => {
    const count = (begun.get(idempotencyKey) ?? 0) + 1;
    begun.set(idempotencyKey, count);
    return count;
  };
  return toolNames.map((name) =>
    defineTool<Plan, unknown>({
      name,
      description: 'Does what it is told.',
      effects: effects[name],
      ...(name === 'resend' || name === 'retry' ? again[name] : {}),
      timeoutMs: 20,
      inputSchema: planSchema,
      outputSchema: v.looseObject({ ending: v.string() }),
      renderResult(value) {
        if ((value as { ending: string }).ending === 'bad-render') throw new Error('render broke');
        return 'rendered';
      },
      async execute(plan, context) {
        for (const step of plan.steps) await take(step, plan, context);
        if (name === 'retry' && countFailure(context) <= (plan.failures ?? 0)) throw new Error('not yet');
        return await end(plan.ending, context, clock);
      },
    }),
  );
}

async function take({ do: what, path, text }: Plan['steps'][number], plan: Plan, context: ToolContext): Promise<void> {
  const { session, filesystem } = context;
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
    case 'make':
      await filesystem?.makeDirectory(path);
      break;
    case 'read':
      if ((await filesystem?.stat(path))?.type === 'file') await filesystem?.readText(path);
      break;
    case 'call':
      if (plan.inner !== undefined) await context.call(plan.inner.name, plan.inner.input);
      break;
    case 'pause':
      for (let count = 0; count < text.length; count += 1) await Promise.resolve();
      break;
  }
}

async function end(
  ending: Plan['ending'],
  { session, filesystem, call }: ToolContext,
  clock: TestClock,
): Promise<unknown> {
  switch (ending) {
    case 'ok':
    case 'bad-render':
      return { ending };
    case 'error':
      return toolError('said so');
    case 'throw':
      throw new Error('broke');
    case 'throw-null':
      return thrown(null);
    case 'throw-proxy':
      return thrown(revokedProxy());
    case 'undefined':
      return undefined;
    case 'function':
      return () => 1;
    case 'cycle':
      return cycle();
    case 'bad-output':
      return { more: 1 };
    case 'bad-note':
      session.dispatch({ type: 'noted', payload: 7 });
      return { ending };
    case 'bad-path':
      await filesystem?.write('../out.txt', 'out');
      return { ending };
    case 'hang':
      return await hang(clock);
    case 'late':
      void hang(clock);
      await macrotasks(4);
      // By now nobody waits for it, and none of this may be seen.
      await Promise.allSettled([
        Promise.resolve().then(() => session.dispatch({ type: 'noted', payload: 'too late' })),
        Promise.resolve().then(() => session.publish({ type: 'happened', payload: 'too late' })),
        filesystem?.write('late.txt', 'too late'),
        call('change', { steps: [{ do: 'note', path: '', text: 'too late' }], ending: 'ok', verdicts: [] }),
      ]);
      return { ending };
  }
}

export async function macrotasks(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Answers what the call's own plan says, and counts successes. */
export function makePolicy(index: number, clock: TestClock): Policy<number> {
  const verdictOf = (input: Json): Plan['verdicts'][number] => (input as unknown as Plan).verdicts[index] ?? 'allow';
  return definePolicy<number>({
    name: `guard-${index}`,
    initialState: 0,
    check: ({ input }) => {
      switch (verdictOf(input)) {
        case 'deny':
          return deny('no');
        case 'ask':
          return ask('sure?');
        case 'throw':
          throw new Error('guard broke');
        case 'nothing':
          return undefined as never;
        case 'late-allow':
          return Promise.resolve(allow);
        case 'hang':
          return hang(clock);
        default:
          return allow;
      }
    },
    onResult: ({ input }, _result, { state }) => {
      const verdict = verdictOf(input);
      if (verdict === 'break-result') throw new Error('guard broke afterwards');
      return verdict === 'break-state' ? Number.NaN : state + 1;
    },
  });
}

export const counters: readonly Slice<number>[] = [0, 1, 2].map((index) =>
  defineSlice<number>({ id: `policy:host/guard-${index}`, kind: 'value', initial: 0, reducers: {} }),
);

const biased = <Item>(most: Item, others: readonly Item[], share: number): fc.Arbitrary<Item> =>
  fc.oneof(
    { weight: share, arbitrary: fc.constant(most) },
    { weight: 10 - share, arbitrary: fc.constantFrom(...others) },
  );

const { plan: arbitraryPlan } = fc.letrec<{ plan: Plan; inner: NonNullable<Plan['inner']> }>((tie) => ({
  plan: fc.record(
    {
      steps: fc.array(
        fc.record({
          do: fc.constantFrom(...steps),
          path: fc.constantFrom(...paths),
          text: fc.string({ maxLength: 4 }),
        }),
        { maxLength: 4 },
      ),
      ending: biased('ok', endings, 4),
      verdicts: fc.array(biased('allow', verdicts, 7), { maxLength: 3 }),
      failures: fc.nat({ max: 3 }),
      inner: fc.oneof({ maxDepth: 3 }, tie('inner')),
    },
    { requiredKeys: ['steps', 'ending', 'verdicts'], noNullPrototype: true },
  ),
  inner: fc.record({ name: fc.constantFrom(...toolNames, 'nobody'), input: tie('plan') }, { noNullPrototype: true }),
}));

export interface Step {
  readonly name: string;
  readonly plan: Plan;
  /** The change to the arguments' text on its way. */
  readonly spoiled: 'cut' | 'twice' | 'unknown' | 'null' | undefined;
  readonly answer: 'approve' | 'deny' | 'throw' | 'never' | undefined;
  /** After so many microtasks the caller aborts; 0: before. */
  readonly abortAfter: number | undefined;
  readonly deadline: boolean;
}

export const arbitraryStep: fc.Arbitrary<Step> = fc.record({
  name: biased('change', [...toolNames, 'nobody'], 3),
  plan: arbitraryPlan,
  spoiled: biased(undefined, ['cut', 'twice', 'unknown', 'null'] as const, 9) as fc.Arbitrary<Step['spoiled']>,
  answer: fc.constantFrom('approve', 'approve', 'deny', 'throw', 'never', undefined),
  abortAfter: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat({ max: 60 }) }),
  deadline: fc.boolean(),
});

export function argumentsOf({ plan, spoiled }: Step): string {
  const text = JSON.stringify(plan);
  switch (spoiled) {
    case 'cut':
      return text.slice(0, -1);
    case 'twice':
      return text.replace('{', '{"ending":"ok",');
    case 'unknown':
      return text.replace('{', '{"more":1,');
    case 'null':
      return 'null';
    case undefined:
      return text;
  }
}
