import { HoldfastError, type JsonObject } from '@holdfast/core';
import type { SessionExport } from '@holdfast/session';
import { describeAnswer } from './answer.ts';
import type { PolicyCall, PolicyCase, PolicyTesterOptions } from './cases.ts';
import { type VariantKind, variantKinds, variantsOf } from './variants.ts';
import { countLeftTimers } from './watch.ts';
import { type Asked, createPolicyWorld, describeCall, type PolicyWorld, type WorldStart } from './world.ts';

/** A requirement for every policy. */
export interface PolicyCheck {
  readonly name: string;
  /** The kind of variants it tries. */
  readonly variants?: VariantKind;
  readonly run: (options: PolicyTesterOptions) => Promise<void>;
}

/** @throws HoldfastError `conformance.failed`. */
export async function checkCase(options: PolicyTesterOptions, testCase: PolicyCase): Promise<void> {
  const { call, answer, observed, reason } = testCase;
  const { asked } = await playCase(options, testCase);
  const told = tell(asked);
  const decision = asked.answer?.type === 'decision' ? asked.answer.decision : undefined;
  const noted = decision?.type === 'allow' ? decision.observed : undefined;
  if (decision?.type !== answer || noted?.type !== observed) {
    const expected = observed === undefined ? answer : `${answer}, observed ${observed}`;
    throw failed(`Expected ${expected} for ${describeCall(call)}, got ${told}.`);
  }
  if (reason !== undefined && !told.includes(reason)) {
    throw failed(`Expected the reason for ${describeCall(call)} to contain \`${reason}\`, got ${told}.`);
  }
}

export const policyChecks: readonly PolicyCheck[] = [
  {
    name: 'it does not modify its input',
    run: (options) => watchCases(options, { watching: 'thawed' }),
  },
  {
    name: 'checked again, it decides the same',
    run: (options) => watchCases(options, { watching: 'twice' }),
  },
  {
    name: 'saved and restored, it decides the same',
    run: (options) =>
      compareCases(options, async (world, { call }) => {
        const saved = JSON.parse(JSON.stringify(world.session.export())) as SessionExport;
        const { clock, resources } = world;
        return createPolicyWorld(options, { from: { saved, clock, resources } }).ask(call);
      }),
  },
  {
    name: 'rolled back, it decides the same',
    run: (options) =>
      compareCases(options, async (world, { call }) => {
        const before = world.session.snapshot();
        for (const other of callsOf(options)) await world.disturb(other, 'succeeding');
        world.session.restore(before);
        return world.ask(call);
      }),
  },
  {
    name: 'failed calls do not change its decisions',
    run: (options) =>
      compareCases(
        options,
        async (world, { call }) => {
          for (const other of callsOf(options)) await world.disturb(other, 'failing');
          return world.ask(call);
        },
        ({ countsFailures }) => countsFailures,
      ),
  },
  ...variantKinds.map((kind) => ({
    name: `it denies the same call in other spellings: ${kind}`,
    variants: kind,
    run: (options: PolicyTesterOptions) => checkVariants(options, kind),
  })),
  {
    name: 'it decides for any arguments',
    run: checkOddArguments,
  },
  {
    name: 'it leaves no timer',
    run: checkTimers,
  },
];

interface Played {
  readonly world: PolicyWorld;
  readonly asked: Asked;
}

async function prepare(
  options: PolicyTesterOptions,
  { after = [] }: PolicyCase,
  start?: WorldStart,
): Promise<PolicyWorld> {
  const world = createPolicyWorld(options, start);
  for (const step of after) await world.take(step);
  return world;
}

/** Plays the steps of a case in a new session, and makes its call. */
export async function playCase(
  options: PolicyTesterOptions,
  testCase: PolicyCase,
  start?: WorldStart,
): Promise<Played> {
  const world = await prepare(options, testCase, start);
  return { world, asked: await world.ask(testCase.call) };
}

async function watchCases(options: PolicyTesterOptions, start: WorldStart): Promise<void> {
  for (const testCase of options.cases) {
    const { problems } = (await playCase(options, testCase, start)).world;
    if (problems.length > 0) throw failed(`${inCase(testCase)}, ${[...new Set(problems)].join('; ')}.`);
  }
}

/** Runs every case twice: unchanged, and with an action between the steps and the call. */
async function compareCases(
  options: PolicyTesterOptions,
  askOtherwise: (world: PolicyWorld, testCase: PolicyCase) => Promise<Asked>,
  mayTighten: (world: PolicyWorld) => boolean = () => false,
): Promise<void> {
  for (const testCase of options.cases) {
    const { asked } = await playCase(options, testCase);
    const plain = tell(asked);
    const world = await prepare(options, testCase);
    const other = await askOtherwise(world, testCase);
    const otherwise = tell(other);
    if (plain !== otherwise && !(mayTighten(world) && strictness(other) > strictness(asked)))
      throw failed(`${inCase(testCase)}, expected ${plain}, got ${otherwise}.`);
  }
}

function strictness({ answer }: Asked): number {
  return answer?.type === 'decision' ? ['allow', 'ask', 'deny'].indexOf(answer.decision.type) : -1;
}

const maxNamed = 5;

async function checkVariants(options: PolicyTesterOptions, kind: VariantKind): Promise<void> {
  const through: string[] = [];
  for (const testCase of options.cases) {
    if (testCase.answer === 'allow' || testCase.different?.includes(kind) === true) continue;
    const { call } = testCase;
    for (const input of variantsOf(call.input ?? {}, kind)) {
      // A new world for each variant: one that is allowed may affect the next.
      const { asked } = await playCase(options, { ...testCase, call: { ...call, input } });
      if (asked.outcome.kind === 'ok') through.push(describeCall({ ...call, input }));
    }
  }
  if (through.length === 0) return;
  const more = through.length > maxNamed ? `, and ${through.length - maxNamed} more` : '';
  throw failed(
    `What it refuses got through as ${through.slice(0, maxNamed).join(', ')}${more}. If these mean something else, name ` +
      `\`${kind}\` in \`different\`, of the case or of all.`,
  );
}

async function checkOddArguments(options: PolicyTesterOptions): Promise<void> {
  for (const tool of new Set(options.cases.map(({ call }) => call.tool))) {
    for (const input of oddArguments()) {
      const { answer, outcome } = await createPolicyWorld(options).ask({ tool, input });
      // The tool's own schema rejects most of them before the policy.
      if (outcome.kind === 'invalid' || answer?.type === 'decision') continue;
      throw failed(`Expected an answer to ${describeCall({ tool, input })}, but ${describeAnswer(answer)}.`);
    }
  }
}

function oddArguments(): readonly JsonObject[] {
  const odd = [
    null,
    true,
    0,
    -1,
    1e308,
    '',
    ' ',
    '..',
    '\u0000',
    '\ud800',
    'x'.repeat(10_000),
    [],
    [null],
    {},
    { path: {} },
  ];
  const keys = ['path', 'pattern', 'to', 'constructor', 'toString', 'length', ''];
  let deep: JsonObject = {};
  for (let depth = 0; depth < 50; depth += 1) deep = { path: deep };
  return [{}, deep, ...odd.flatMap((value) => keys.map((key) => ({ [key]: value }) as JsonObject))];
}

async function checkTimers(options: PolicyTesterOptions): Promise<void> {
  for (const testCase of options.cases) {
    let pending = 0;
    const left = await countLeftTimers(async () => {
      pending = (await playCase(options, testCase)).world.clock.pending;
    });
    const count = left + pending;
    if (count > 0) throw failed(`${inCase(testCase)}, it left ${count === 1 ? '1 timer' : `${count} timers`} behind.`);
  }
}

/** Every call of every case, including earlier steps. */
export function callsOf({ cases }: PolicyTesterOptions): readonly PolicyCall[] {
  return cases.flatMap(({ after = [], call }) => [...after.flatMap((step) => ('tool' in step ? [step] : [])), call]);
}

/** The policy's decision, or why there is none. */
export function tell({ answer, outcome }: Asked): string {
  if (answer !== undefined) return describeAnswer(answer);
  return outcome.kind === 'suspended'
    ? 'no answer'
    : `no answer (the call ended as \`${outcome.kind}\`: ${outcome.message})`;
}

export function inCase({ title, call }: PolicyCase): string {
  return title === undefined ? `At ${describeCall(call)}` : `In \`${title}\``;
}

export function failed(message: string): HoldfastError {
  return new HoldfastError('conformance.failed', message);
}
