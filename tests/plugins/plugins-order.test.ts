import {
  allow,
  ask,
  definePack,
  definePlugin,
  definePolicy,
  defineTool,
  isHoldfastError,
  type Pack,
  type Plugin,
  type Policy,
  type Tool,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { callBudget, denyTools, sequentialDependency } from '@holdfast/policy';
import { createRegistry, type Registry, renameTools, type Toolset } from '@holdfast/registry';
import { foldName } from '@holdfast/registry/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/** Which things are in force, and what is decided, follows from what is used, and not from the order. */

// Few names, of which some look alike, so that they meet.
const toolNames = ['push', 'pu_sh', 'pull', 'list', '1ist', 'tag'] as const;
const pluginNames = ['git', 'hg', 'svn', 'cvs', 'mail', 'mai1'] as const;

/** One of the packs below, instead of a plugin. */
interface UsePack {
  readonly pack: keyof typeof packs;
}

interface Use {
  readonly name: string;
  readonly tools: readonly string[];
  readonly prefix: string | undefined;
  readonly policy: 'none' | 'order' | 'deny' | 'budget';
  readonly fault: 'none' | 'setup' | 'version';
  readonly commands: readonly string[];
}

const use: fc.Arbitrary<Use> = fc.record({
  name: fc.constantFrom(...pluginNames),
  tools: fc.uniqueArray(fc.constantFrom(...toolNames), { maxLength: 4 }),
  prefix: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
  policy: fc.constantFrom('none', 'order', 'deny', 'budget'),
  fault: fc.constantFrom('none', 'none', 'none', 'none', 'setup', 'version'),
  commands: fc.uniqueArray(fc.constantFrom('sync', 'push'), { maxLength: 1 }),
});

const packs = {
  few: packOf('few', () => callBudget({ maxCalls: 3 })),
  careful: packOf('careful', () =>
    definePolicy({ name: 'careful', check: ({ tool }) => (tool.name.includes('l') ? ask('Look first.') : allow) }),
  ),
};

function packOf(name: string, policy: () => Policy): Pack {
  const preset = { description: 'As it is.', config: {} };
  return definePack({
    name,
    version: '1.0.0',
    description: 'One of two.',
    configSchema: jsonSchema<Record<string, never>>({ type: 'object' }),
    presets: { recommended: preset, strict: preset },
    policies: () => [policy()],
  });
}

const usedPacks: fc.Arbitrary<readonly UsePack[]> = fc
  .subarray(['few', 'careful'] as const)
  .map((names) => names.map((pack) => ({ pack })));

// Every other name of a plugin that is there would be refused; one in a few sets has two that look alike all the same.
const uses: fc.Arbitrary<readonly Use[]> = fc.uniqueArray(use, {
  minLength: 1,
  maxLength: 4,
  selector: ({ name }) => name,
});

const winners: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .uniqueArray(fc.tuple(fc.constantFrom('push', 'list', 'x_push', 'tag', 'sync'), fc.constantFrom(...pluginNames)), {
    maxLength: 4,
    selector: ([name]) => name,
  })
  .map((pairs) => Object.fromEntries(pairs));

function toolNamed(name: string): Tool {
  return defineTool({ name, description: `Says ${name}.`, effects: 'state', execute: () => name });
}

function toPlugin({ name, tools, policy, fault, commands }: Use): Plugin {
  const [first, second] = tools;
  const policies = [
    ...(policy === 'order' && first !== undefined && second !== undefined
      ? [sequentialDependency({ [first]: [second] })]
      : []),
    ...(policy === 'deny' && first !== undefined ? [denyTools([first])] : []),
    ...(policy === 'budget' ? [callBudget({ maxCalls: 2 })] : []),
  ];
  return definePlugin({
    name,
    version: '1.0.0',
    description: 'One of many.',
    holdfast: fault === 'version' ? '^999.0.0' : '>=0.0.0',
    tools: tools.map(toolNamed),
    policies,
    commands: commands.map((command) => ({ name: command, description: 'Runs.', run: () => 0 })),
    setup() {
      if (fault === 'setup') throw new Error('out of order');
      return {};
    },
  });
}

/** The registry, or the code with which it is refused. */
function build(all: readonly (Use | UsePack)[], given: Readonly<Record<string, string>>): Registry | string {
  try {
    return all.reduce(
      (registry, one) => {
        if ('pack' in one) return registry.use(packs[one.pack]);
        return registry.use(toPlugin(one), one.prefix === undefined ? {} : { prefix: one.prefix });
      },
      createRegistry({ winners: given }),
    );
  } catch (thrown) {
    if (isHoldfastError(thrown)) return thrown.code.split('.')[0] ?? '';
    throw thrown;
  }
}

async function outcomesOf({ tools, policies }: Pick<Registry, 'tools' | 'policies'>, calls: readonly number[]) {
  const session = createSession();
  const names = tools.map(({ name }) => name).toSorted();
  const said: string[] = [];
  for (const number of calls) {
    const name = names[number % Math.max(1, names.length)] ?? 'none';
    const outcome = await executeToolCall({ name, arguments: {} }, { tools, policies, session, unattended: true });
    if (outcome.kind === 'suspended') throw new Error('nobody is asked here');
    // Reasons stand in the order of the policies.
    said.push(`${name} ${outcome.kind} ${outcome.message.split('\n').toSorted().join(' ')}`);
  }
  return said;
}

const seen = { refused: 0, built: 0, denied: 0, lost: 0 };

test('whatever is used, in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .tuple(uses, usedPacks)
        .map(([plugins, some]) => [...plugins, ...some])
        .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      winners,
      fc.array(fc.nat(9), { maxLength: 8 }),
      async ([all, shuffled], given, calls) => {
        const one = build(all, given);
        const other = build(shuffled, given);
        if (typeof one === 'string' || typeof other === 'string') {
          seen.refused += 1;
          expect(other).toBe(one);
          return;
        }
        seen.built += 1;
        expect(JSON.stringify(other)).toBe(JSON.stringify(one));
        checkNames(one);
        const outcomes = await outcomesOf(one, calls);
        expect(await outcomesOf(other, calls)).toEqual(outcomes);
        if (outcomes.some((said) => said.includes(' denied '))) seen.denied += 1;
      },
    ),
    { numRuns: 120 },
  );
  // The property is about all of these.
  expect(Math.min(seen.refused, seen.built, seen.denied, seen.lost)).toBeGreaterThan(0);
});

/** Never two of one look in force, and everything that is listed can be asked for. */
function checkNames(registry: Registry): void {
  const folded = registry.tools.map(({ name }) => foldName(name));
  expect(new Set(folded).size).toBe(folded.length);
  const { contributions } = JSON.parse(JSON.stringify(registry)) as {
    readonly contributions: ReturnType<Registry['explain']>;
  };
  for (const explanation of contributions) {
    const { kind, name, qualifiedName, inForce } = explanation;
    expect(registry.explain(name)).toContainEqual(explanation);
    expect(registry.explain(qualifiedName)).toContainEqual(explanation);
    if (kind === 'tool') expect(registry.resolve(qualifiedName)?.name).toBe(inForce ? name : undefined);
    if (kind === 'tool' && !inForce) seen.lost += 1;
  }
  const listed = contributions.filter(({ kind, inForce }) => kind === 'tool' && inForce).map(({ name }) => name);
  expect(registry.tools.map(({ name }) => name).toSorted()).toEqual(listed.toSorted());
}

test('renamed, and renamed again, tools and policies know each other as before', async () => {
  const names = ['a', 'b', 'c', 'd'];
  const caller = (name: string, other: string): Tool =>
    defineTool({
      name,
      description: 'Calls another.',
      effects: 'state',
      execute: async (_input, context) => (await context.call(other)).kind,
    });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.shuffledSubarray(names, { minLength: 4 }), { maxLength: 3 }),
      fc.array(fc.nat(3), { maxLength: 6 }),
      async (renamings, calls) => {
        const plain: Toolset = {
          tools: [toolNamed('a'), toolNamed('b'), caller('c', 'a'), caller('d', 'c')],
          policies: [sequentialDependency({ a: ['b'] })],
        };
        // Where each ends up after all of them.
        let now = names;
        let renamed = plain;
        for (const renaming of renamings) {
          const step = new Map(names.map((name, index) => [name, renaming[index] ?? name]));
          renamed = renameTools(renamed, Object.fromEntries(step));
          now = now.map((name) => step.get(name) ?? name);
        }
        const run = async ({ tools, policies }: Toolset, nameOf: (index: number) => string | undefined) => {
          const session = createSession();
          const said: unknown[] = [];
          for (const index of calls) {
            const outcome = await executeToolCall(
              { name: nameOf(index) ?? '', arguments: {} },
              { tools, policies, session },
            );
            said.push(outcome.kind === 'suspended' ? 'suspended' : [outcome.kind, outcome.value]);
          }
          return said;
        };
        expect(await run(renamed, (index) => now[index])).toEqual(await run(plain, (index) => names[index]));
      },
    ),
    { numRuns: 50 },
  );
});
