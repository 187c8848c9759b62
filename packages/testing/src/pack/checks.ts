import { definePack, isHoldfastError, type JsonObject, type Pack, type Policy } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { packPolicies } from '@holdfast/policy';
import { describeAnswer } from '../policy/answer.ts';
import type { PolicyCall, PolicyTesterOptions } from '../policy/cases.ts';
import { callsOf, failed, inCase, playCase, tell } from '../policy/checks.ts';
import { createPolicyWorld, describeCall } from '../policy/world.ts';
import { type PackSuite, suitePolicies, toTesterOptions } from './cases.ts';
import { alterJson, pick, randomNumbers } from './random-json.ts';
import { countRules } from './rules.ts';

/** The relevant fields of a pack's `package.json`. */
export interface PackManifest {
  readonly version?: unknown;
  readonly holdfast?: unknown;
  readonly scripts?: unknown;
  readonly dependencies?: unknown;
  readonly optionalDependencies?: unknown;
  readonly peerDependencies?: unknown;
}

/** A pack under test, with all its cases. */
export interface PackUnderTest {
  readonly pack: Pack;
  readonly suites: readonly PackSuite[];
  readonly manifest: PackManifest | undefined;
  readonly runs: number;
}

export interface PackCheck {
  readonly name: string;
  readonly run: (test: PackUnderTest) => Promise<void>;
}

/** Requirements for a pack as a whole. */
export const packChecks: readonly PackCheck[] = [
  { name: 'its metadata is valid', run: checkMetadata },
  { name: 'its package has no install scripts, and versioned dependencies', run: checkPackage },
  { name: 'every preset creates policies with stable ids', run: checkPresets },
  { name: 'every preset that is in force has cases', run: checkCovered },
  { name: 'no case is a duplicate', run: checkTwice },
  { name: 'an unknown option is rejected', run: checkUnknownOption },
  { name: 'every policy allows something and denies something', run: checkFired },
  { name: 'a dry-run preset allows everything', run: checkTriedOut },
  { name: 'any options are rejected, or create policies that decide', run: checkAnyOptions },
];

/** Requirements for the policies of one choice of options, besides those for every policy. */
export const suiteChecks: readonly {
  readonly name: string;
  readonly run: (test: PackUnderTest, suite: PackSuite) => Promise<void>;
}[] = [
  { name: 'sessions are independent', run: checkApart },
  { name: 'it decides for altered arguments of its cases', run: checkAlteredCalls },
];

async function checkMetadata({ pack, manifest }: PackUnderTest): Promise<void> {
  const { presets, policies } = pack;
  const { recommended, strict } = presets;
  if (recommended === undefined || strict === undefined)
    throw failed('Expected the presets `recommended` and `strict`.');
  try {
    // Repeats the checks of `definePack`: a pack may be handwritten or come from another version.
    definePack({ ...pack, policies: (config) => policies(config), presets: { ...presets, recommended, strict } });
  } catch (thrown) {
    throw failed(describeThrown(thrown));
  }
  if (manifest === undefined) return;
  if (manifest.version !== pack.version) {
    throw failed(
      `The pack \`${pack.name}\` says that it is ${pack.version}, and its package.json says ${String(manifest.version)}.`,
    );
  }
  if (manifest.holdfast !== 'pack') {
    throw failed('Expected `"holdfast": "pack"` in package.json: by that it is found among installed packages.');
  }
  const needed = [manifest.dependencies, manifest.peerDependencies].some((list) =>
    Object.hasOwn(Object(list), '@holdfast/core'),
  );
  if (!needed) throw failed('Expected `@holdfast/core` among the `peerDependencies` of package.json.');
}

const installScripts = ['preinstall', 'install', 'postinstall'];
const unversioned = /^(?:git\b|github:|gitlab:|bitbucket:|gist:|https?:|file:|link:|portal:|[\w.-]+\/)/;

/** A pack is trusted by name and version: no code may run before that, and every dependency needs a version. */
async function checkPackage({ manifest }: PackUnderTest): Promise<void> {
  if (manifest === undefined) return;
  const scripts = installScripts.filter((name) => Object.hasOwn(Object(manifest.scripts), name));
  if (scripts.length > 0) {
    throw failed(
      `package.json has the script ${quote(scripts)}, which runs before anybody has looked at the pack: leave it out.`,
    );
  }
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const odd = [dependencies, optionalDependencies, peerDependencies].flatMap((list) =>
    Object.entries(Object(list)).flatMap(([name, from]) => (unversioned.test(String(from)) ? [name] : [])),
  );
  if (odd.length > 0)
    throw failed(`package.json does not say by version which ${quote(odd)} it needs: depend on a published one.`);
}

function quote(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

async function checkPresets({ pack, suites }: PackUnderTest): Promise<void> {
  const presets = Object.keys(pack.presets).map((preset) => ({ title: preset, preset, config: {} }));
  for (const suite of [...presets, ...suites.map(({ title, preset, config }) => ({ title, preset, config }))]) {
    const [first, again] = [makePolicies(pack, suite), makePolicies(pack, suite)].map((policies) =>
      policies.map(({ id }) => id),
    );
    if (first?.length === 0) throw failed(`\`${suite.title}\` makes no policy: it guards nothing.`);
    if (String(first) === String(again)) continue;
    throw failed(
      `\`${suite.title}\` makes the policies ${String(first)} once and ${String(again)} another time: their ids have to follow from the options.`,
    );
  }
}

function makePolicies(pack: Pack, { title, preset, config }: Omit<PackSuite, 'cases'>): readonly Policy[] {
  try {
    return packPolicies(pack, { preset, config });
  } catch (thrown) {
    throw failed(`\`${title}\` makes no policies: ${describeThrown(thrown)}`);
  }
}

async function checkCovered({ pack, suites }: PackUnderTest): Promise<void> {
  const covered = new Set(suites.filter(({ title, preset }) => title === preset).map(({ preset }) => preset));
  const missing = Object.entries(pack.presets).flatMap(([name, { observe }]) =>
    observe || covered.has(name) ? [] : [`\`${name}\``],
  );
  if (missing.length > 0) throw failed(`Expected cases of ${missing.join(', ')}.`);
}

async function checkTwice({ suites }: PackUnderTest): Promise<void> {
  for (const { title, cases } of suites) {
    const seen = new Set<string>();
    for (const { call, after = [], answer, observed } of cases.cases) {
      const text = JSON.stringify([call, after, answer, observed]);
      if (seen.has(text))
        throw failed(
          `\`${title}\` has ${describeCall(call)} twice, with the same before it: the second tells nothing.`,
        );
      seen.add(text);
    }
  }
}

async function checkUnknownOption({ pack }: PackUnderTest): Promise<void> {
  for (const preset of Object.keys(pack.presets)) {
    const problem = problemOf(pack, preset, { 'an unknown option': true });
    if (problem === refused) continue;
    throw failed(
      `Expected an unknown option beside \`${preset}\` to be rejected as \`pack.invalid: config\`: a misspelled option would have no effect. ` +
        (problem ?? 'It was accepted.'),
    );
  }
}

async function checkFired({ pack, suites }: PackUnderTest): Promise<void> {
  const rules = await countRules(pack, suites);
  const problems = rules.flatMap(({ policy, allowed, asked, denied }) => {
    if (allowed > 0 && asked + denied > 0) return [];
    return [`\`${policy}\` ${asked + denied === 0 ? 'never refused' : 'never let through'} anything`];
  });
  if (problems.length > 0) throw failed(`In all the cases, ${problems.join(', ')}: add cases in which it does.`);
}

async function checkTriedOut({ pack, suites }: PackUnderTest): Promise<void> {
  for (const [preset, { observe }] of Object.entries(pack.presets)) {
    if (!observe) continue;
    for (const suite of suites) {
      const options = toTesterOptions(pack, { ...suite, preset });
      for (const testCase of suite.cases.cases) {
        const world = createPolicyWorld(options);
        for (const step of callsOf({ ...options, cases: [testCase] })) {
          const { answer, outcome } = await world.ask(step);
          if (outcome.kind !== 'denied' && outcome.kind !== 'suspended') continue;
          throw failed(
            `Under \`${preset}\`, expected ${describeCall(step)} to be let through, got ${tell({ answer, outcome })}.`,
          );
        }
      }
    }
  }
}

const refused = Symbol('refused');

/** Why options are neither rejected nor accepted. */
function problemOf(pack: Pack, preset: string, config: JsonObject): string | undefined | typeof refused {
  try {
    packPolicies(pack, { preset, config });
    return undefined;
  } catch (thrown) {
    if (isHoldfastError(thrown) && thrown.code === 'pack.invalid' && thrown.reason === 'config') return refused;
    return `It threw${isHoldfastError(thrown) ? ` \`${thrown.code}\`` : ''}: ${describeThrown(thrown)}`;
  }
}

async function checkAnyOptions({ pack, suites, runs }: PackUnderTest): Promise<void> {
  const random = randomNumbers(1);
  const known = [...Object.values(pack.presets).map(({ config }) => config), ...suites.map(({ config }) => config)];
  const keys = [...new Set([...known.flatMap((config) => Object.keys(config)), ...optionNames(pack)])];
  for (let run = 0; run < runs; run += 1) {
    const preset = pick(Object.keys(pack.presets), random) ?? 'recommended';
    const config = alterJson({ ...pack.presets[preset]?.config, ...pick(known, random) }, keys, random);
    const problem = problemOf(pack, preset, config);
    if (problem === refused) continue;
    const what = `the options ${describeJson(config)} beside \`${preset}\``;
    if (problem !== undefined) {
      throw failed(`Expected ${what} to make policies, or to be refused as \`pack.invalid: config\`. ${problem}`);
    }
    await checkAnswers(pack, { preset, config }, pick(suites, random), what);
  }
}

/** The keys of an object schema: `entries` of valibot, `shape` of zod, `properties` of JSON Schema. */
function optionNames({ configSchema }: Pack): readonly string[] {
  const { entries, shape, schema } = Object(configSchema) as Readonly<Record<string, unknown>>;
  return [entries, shape, Object(schema).properties].flatMap((fields) => Object.keys(Object(fields)));
}

/** Tests every policy separately, so that rarely present ones are tested, too. */
async function checkAnswers(
  pack: Pack,
  { preset, config }: Pick<PackSuite, 'preset' | 'config'>,
  suite: PackSuite | undefined,
  what: string,
): Promise<void> {
  if (suite === undefined) return;
  // A dry run would hide faults.
  const made = { ...suite, preset, config, observe: false };
  if (suitePolicies(pack, made).length === 0) return;
  // Random tool names do not exist, which is not the subject here.
  const options = toTesterOptions(pack, made, (policy) => ({ ...policy, mentions: [] }));
  const world = createPolicyWorld(options);
  for (const call of callsOf(options).slice(0, 8)) {
    const { answer, outcome } = await world.ask(call);
    if (outcome.kind === 'invalid' || answer?.type === 'decision') continue;
    throw failed(`Under ${what}, expected an answer to ${describeCall(call)}, but ${describeAnswer(answer)}.`);
  }
}

async function checkApart({ pack }: PackUnderTest, suite: PackSuite): Promise<void> {
  const options = toTesterOptions(pack, suite);
  const before: string[] = [];
  for (const testCase of options.cases) before.push(tell((await playCase(options, testCase)).asked));
  const other = createPolicyWorld(options);
  for (const call of callsOf(options)) await other.disturb(call, 'succeeding');
  for (const [index, testCase] of options.cases.entries()) {
    const after = tell((await playCase(options, testCase)).asked);
    if (before[index] === after) continue;
    throw failed(
      `${inCase(testCase)}, expected ${before[index]}, as before calls of another session, got ${after}: what it knows belongs into the state of its policies.`,
    );
  }
}

async function checkAlteredCalls({ pack, runs }: PackUnderTest, suite: PackSuite): Promise<void> {
  const random = randomNumbers(2);
  const options: PolicyTesterOptions = toTesterOptions(pack, { ...suite, observe: false });
  const calls: readonly PolicyCall[] = callsOf(options);
  const keys = [...new Set(calls.flatMap(({ input = {} }) => Object.keys(input)))];
  let world = createPolicyWorld(options);
  for (let run = 0; run < runs; run += 1) {
    // A new session now and then, because earlier calls may prevent others from being checked.
    if (run % 20 === 0) world = createPolicyWorld(options);
    const { tool, input = {} } = pick(calls, random) ?? { tool: '' };
    const call = { tool, input: alterJson(input, keys, random) };
    const { answer, outcome } = await world.ask(call);
    if (outcome.kind === 'invalid' || answer?.type === 'decision') continue;
    throw failed(`Expected an answer to ${describeCall(call)}, but ${describeAnswer(answer)}.`);
  }
}

function describeJson(value: JsonObject): string {
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
