import { setImmediate } from 'node:timers/promises';
import { defineResource, type HoldfastError, isHoldfastError, type ResourceDefinition } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import type { ResourceLifetime } from '@holdfast/core/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ResourceFailure } from './disposal.ts';
import { type CallResourceScope, createSessionResources } from './scope.ts';

type Asking = 'one by one' | 'at once' | 'without waiting';

/** How a random resource behaves. What it uses are indexes of others, or of itself. */
interface Plan {
  readonly lifetime: ResourceLifetime;
  readonly uses: readonly number[];
  readonly asking: Asking;
  /** Where `create` waits for the test to go on. */
  readonly gate: 'none' | 'first' | 'last';
  readonly create: 'makes' | 'throws first' | 'throws last';
  readonly disposal: 'works' | 'waits' | 'throws' | 'waits and throws';
}

type Step =
  | { readonly type: 'use'; readonly scope: number; readonly resource: number }
  | { readonly type: 'open gate'; readonly gate: number }
  | { readonly type: 'dispose'; readonly scope: number };

const size = 6;
const index = fc.nat(size - 1);
const lifetime = fc.constantFrom<ResourceLifetime>('session', 'call', 'use');
const plan = (parts: Partial<{ [Part in keyof Plan]: fc.Arbitrary<Plan[Part]> }>): fc.Arbitrary<Plan> =>
  fc.record({
    lifetime,
    uses: fc.uniqueArray(index, { maxLength: 3 }),
    asking: fc.constantFrom<Asking>('one by one', 'at once', 'without waiting'),
    gate: fc.constantFrom('none', 'first', 'last'),
    create: fc.oneof(
      { weight: 6, arbitrary: fc.constant('makes' as const) },
      fc.constantFrom('throws first', 'throws last'),
    ),
    disposal: fc.constantFrom('works', 'waits', 'throws', 'waits and throws'),
    ...parts,
  });
const plans = (parts: Parameters<typeof plan>[0] = {}): fc.Arbitrary<readonly Plan[]> =>
  fc.array(plan(parts), { minLength: size, maxLength: size });
// 0 and 1 are calls, 2 is nested in 0, 3 in 2.
const scope = fc.nat(3);
const use = fc.record({ type: fc.constant('use' as const), scope, resource: index });
const openGate = fc.record({ type: fc.constant('open gate' as const), gate: fc.nat(7) });
const dispose = fc.record({ type: fc.constant('dispose' as const), scope });
const steps = (...kinds: readonly fc.Arbitrary<Step>[]): fc.Arbitrary<readonly Step[]> =>
  fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 24 });

/** One instance, and what is known of it. */
interface Instance {
  readonly resource: number;
  readonly uses: Set<Instance>;
  /** The step in which it was complete. */
  completeAt: number;
  disposal: 'none' | 'begun' | 'ended';
}

interface Answer {
  readonly scope: number;
  readonly resource: number;
  settled: boolean;
  instance?: Instance;
  error?: HoldfastError;
}

/** Plays a random program, and looks all the time whether the promises are kept. */
class World {
  readonly plans: readonly Plan[];
  readonly definitions: readonly ResourceDefinition<Instance>[];
  readonly session = this.#createSession();
  readonly scopes: readonly CallResourceScope[];
  readonly answers: Answer[] = [];
  readonly made: Instance[] = [];
  readonly disposed: Instance[] = [];
  readonly failures: ResourceFailure[] = [];
  readonly problems: string[] = [];
  readonly #gates: (() => void)[] = [];
  making = 0;
  step = 0;

  constructor(plans: readonly Plan[]) {
    this.plans = plans;
    this.definitions = plans.map((_plan, resource) => this.#define(resource));
    const [first, second] = [this.session.open(), this.session.open()];
    const nested = first.open();
    this.scopes = [first, second, nested, nested.open()];
  }

  #createSession() {
    return createSessionResources({ onLateFailure: (failure) => this.failures.push(failure) });
  }

  #define(resource: number): ResourceDefinition<Instance> {
    const { lifetime, uses, asking, gate, create, disposal } = this.plans[resource] as Plan;
    return defineResource<Instance>({
      name: `r${resource}`,
      lifetime,
      create: async ({ use, signal }) => {
        this.making += 1;
        try {
          if (gate === 'first') await this.#gate();
          if (create === 'throws first') throw new Error(`r${resource}`);
          const instance: Instance = { resource, uses: new Set(), completeAt: this.step, disposal: 'none' };
          const ask = async (used: number): Promise<void> => {
            const inner = await use(this.definitions[used] as ResourceDefinition<Instance>);
            this.#must(inner.disposal === 'none', `r${resource} got what is disposed of`);
            instance.uses.add(inner);
          };
          if (asking === 'one by one') for (const used of uses) await ask(used);
          else if (asking === 'at once') await Promise.all(uses.map(ask));
          else
            for (const used of uses)
              void ask(used)
                .finally(() => this.#complete(instance))
                .catch(() => undefined);
          if (gate === 'last') await this.#gate();
          if (create === 'throws last') throw new Error(`r${resource} ${signal.aborted}`);
          this.#complete(instance);
          this.made.push(instance);
          return instance;
        } finally {
          this.making -= 1;
        }
      },
      dispose: async (instance) => {
        this.#must(instance.disposal === 'none', `r${resource} is disposed of twice`);
        instance.disposal = 'begun';
        const users = this.made.filter(({ uses: used }) => used.has(instance));
        this.#must(
          users.every((user) => user.disposal === 'ended'),
          `r${resource} is disposed of before its users`,
        );
        this.disposed.push(instance);
        if (disposal.startsWith('waits')) await setImmediate();
        instance.disposal = 'ended';
        if (disposal.endsWith('throws')) throw new Error(`r${instance.resource}`);
      },
    });
  }

  #complete(instance: Instance): void {
    instance.completeAt = this.step;
  }

  #gate(): Promise<void> {
    return new Promise((resolve) => this.#gates.push(resolve));
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      this.step += 1;
      switch (step.type) {
        case 'use':
          this.use(step.scope, step.resource);
          break;
        case 'open gate':
          this.#gates.splice(step.gate % Math.max(1, this.#gates.length), 1)[0]?.();
          break;
        case 'dispose':
          await this.dispose(step.scope);
          break;
        default:
          step satisfies never;
      }
      // Not after every step: what follows at once has to meet what is half done.
      if (this.step % 3 !== 0) await setImmediate();
    }
  }

  use(scope: number, resource: number): void {
    const answer: Answer = { scope, resource, settled: false };
    this.answers.push(answer);
    this.scopes[scope]?.use(this.definitions[resource] as ResourceDefinition<Instance>).then(
      (instance) => {
        this.#must(instance.disposal === 'none', `scope ${scope} got what is disposed of`);
        Object.assign(answer, { settled: true, instance });
      },
      (error: unknown) => Object.assign(answer, { settled: true, error }),
    );
  }

  async dispose(scope: number): Promise<void> {
    this.failures.push(...((await this.scopes[scope]?.dispose()) ?? []));
    const waiting = this.answers.some((answer) => answer.scope === scope && !answer.settled);
    this.#must(!waiting, `a wait is left in scope ${scope}, which has ended`);
  }

  /** Lets everything come to its end. */
  async settle(): Promise<void> {
    for (let round = 0; round < 200 && (this.#gates.length > 0 || this.making > 0); round += 1) {
      this.step += 1;
      this.#gates.shift()?.();
      await setImmediate();
    }
    // No `create` waits for something that never arrives.
    this.#must(this.making === 0 && this.#gates.length === 0, 'something is being made for ever');
    await setImmediate();
  }

  async end(): Promise<void> {
    this.failures.push(...(await this.session.dispose()));
    await this.settle();
    for (let wait = 0; wait <= this.made.length; wait += 1) await setImmediate();
    checkEnd(this);
  }

  #must(held: boolean, problem: string): void {
    if (!held) this.problems.push(problem);
  }
}

function checkEnd({ plans, answers, made, disposed, failures, problems }: World): void {
  expect(problems).toEqual([]);
  expect(answers.filter(({ settled }) => !settled)).toEqual([]);
  expect(new Set(disposed)).toEqual(new Set(made));
  expect(disposed.length).toBe(made.length);
  const failing = made.filter(({ resource }) => plans[resource]?.disposal.endsWith('throws'));
  expect(failures.map(({ name }) => name).sort()).toEqual(failing.map(({ resource }) => `r${resource}`).sort());
}

/** Resources that a use of `start` leads to, itself included. */
function reach(plans: readonly Plan[], start: number): ReadonlySet<number> {
  const reached = new Set([start]);
  for (const resource of reached) for (const used of plans[resource]?.uses ?? []) reached.add(used);
  return reached;
}

function isOnCycle(plans: readonly Plan[], resource: number): boolean {
  return (plans[resource]?.uses ?? []).some((used) => reach(plans, used).has(resource));
}

/** Each answer and the answers allowed. */
function checkAnswers({ plans, answers }: World, ended: ReadonlySet<number>): void {
  for (const { resource, scope, error } of answers) {
    if (error === undefined) continue;
    expect(isHoldfastError(error)).toBe(true);
    const reached = [...reach(plans, resource)];
    switch (describeCode(error)) {
      case 'resource.invalid: cycle': {
        const { path } = error.data as { readonly path: readonly string[] };
        const indexes = path.map((name) => Number(name.slice(1)));
        expect(path[0]).toBe(path.at(-1));
        expect(new Set(path).size).toBe(path.length - 1);
        indexes.slice(1).forEach((used, at) => {
          expect(plans[indexes[at] ?? -1]?.uses).toContain(used);
        });
        expect(reached).toEqual(expect.arrayContaining(indexes));
        break;
      }
      case 'resource.invalid: lifetime':
        expect(reached.some((user) => plans[user]?.uses.some((used) => outlives(plans, user, used)))).toBe(true);
        break;
      case 'resource.failed: create':
        expect(reached.some((made) => plans[made]?.create !== 'makes')).toBe(true);
        break;
      default:
        expect(error.code).toBe('context.closed');
        expect(ended).toContain(scope);
    }
  }
}

const ranks = { use: 0, call: 1, session: 2 };
const outlives = (plans: readonly Plan[], user: number, used: number): boolean =>
  ranks[plans[user]?.lifetime ?? 'use'] > ranks[plans[used]?.lifetime ?? 'use'];

/** Shared instances are identical, others are not. */
function checkSharing({ plans, answers }: World): void {
  plans.forEach(({ lifetime }, resource) => {
    const given = answers.filter((answer) => answer.resource === resource && answer.instance !== undefined);
    const places = new Set(lifetime === 'session' ? given.map(() => 0) : given.map(({ scope }) => scope));
    const instances = new Set(given.map(({ instance }) => instance));
    if (given.length > 0) expect(instances.size).toBe(lifetime === 'use' ? given.length : places.size);
  });
}

/** The scopes that end with those that steps end. */
function endedBy(steps: readonly Step[]): ReadonlySet<number> {
  const inside = [[0, 2, 3], [1], [2, 3], [3]];
  return new Set(steps.flatMap((step) => (step.type === 'dispose' ? (inside[step.scope] ?? []) : [])));
}

const runs = { numRuns: 170 };

test('whatever happens, every use comes to an end and every instance is disposed of once, after its users', async () => {
  await fc.assert(
    fc.asyncProperty(plans(), steps(use, use, use, openGate, openGate, dispose), async (plans, steps) => {
      const world = new World(plans);
      await world.play(steps);
      await world.settle();
      expect(world.answers.filter(({ settled }) => !settled)).toEqual([]);
      checkAnswers(world, endedBy(steps));
      checkSharing(world);
      await world.end();
    }),
    runs,
  );
});

test('whatever is going on, the end of the session is the end of every use', async () => {
  await fc.assert(
    fc.asyncProperty(plans(), steps(use, use, openGate, dispose), async (plans, steps) => {
      const world = new World(plans);
      await world.play(steps);
      world.failures.push(...(await world.session.dispose()));
      await setImmediate();
      expect(world.answers.filter(({ settled }) => !settled)).toEqual([]);
      checkSharing(world);
      await world.end();
    }),
    runs,
  );
});

test('with nothing half made, the last one made goes first', async () => {
  await fc.assert(
    fc.asyncProperty(plans(), steps(use, use, openGate), fc.nat(3), async (plans, steps, first) => {
      const world = new World(plans);
      await world.play(steps);
      await world.settle();
      const groups: (readonly Instance[])[] = [];
      for (const scope of [first, 3, 2, 1, 0]) {
        const before = world.disposed.length;
        await world.dispose(scope);
        // A scope that has others in it ends those first.
        if (scope !== first || endedBy([{ type: 'dispose', scope }]).size === 1)
          groups.push(world.disposed.slice(before));
      }
      const before = world.disposed.length;
      await world.end();
      groups.push(world.disposed.slice(before));
      for (const group of groups) {
        const order = group.map(({ completeAt }) => completeAt);
        expect(order).toEqual([...order].sort((a, b) => b - a));
      }
    }),
    runs,
  );
});

/** Two ways round that meet in one resource, of which the longer one is met when the other has failed. */
const twoWaysRound = [
  { gate: 'none' as const, uses: [] },
  { gate: 'first' as const, uses: [4] },
  { gate: 'first' as const, uses: [5, 1], asking: 'at once' as const },
  { gate: 'none' as const, uses: [] },
  { gate: 'first' as const, uses: [2] },
  { gate: 'none' as const, uses: [2] },
].map((part): Plan => ({ lifetime: 'call', asking: 'one by one', create: 'makes', disposal: 'works', ...part }));

test.each(['session', 'call', 'use'] as const)(
  'without failures, a use of a %s resource ends as its graph says: an instance, or a cycle',
  async (only) => {
    const parts = {
      lifetime: fc.constant(only),
      create: fc.constant('makes' as const),
      asking: fc.constantFrom<Asking>('one by one', 'at once'),
    };
    await fc.assert(
      fc.asyncProperty(plans(parts), steps(use, use, openGate), async (plans, steps) => {
        const world = new World(plans);
        await world.play(steps);
        await world.settle();
        for (const { resource, error } of world.answers) {
          const cyclic = [...reach(plans, resource)].some((reached) => isOnCycle(plans, reached));
          expect(error?.reason).toBe(cyclic ? 'cycle' : undefined);
        }
        checkAnswers(world, new Set());
        checkSharing(world);
        await world.end();
      }),
      {
        numRuns: 80,
        examples: [[twoWaysRound, [5, 4].map((resource) => ({ type: 'use', scope: 3, resource }) as const)]],
      },
    );
  },
);
