import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { defineResource, type HoldfastError, type ResourceDefinition } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import type { ResourceLifetime } from '@holdfast/core/types';
import { describe, expect, test } from 'vitest';
import { wordsResource } from '../fixtures.ts';
import type { ResourceFailure } from './disposal.ts';
import { type CallResourceOptions, createSessionResources } from './scope.ts';

/** The events, in order: `+a1` is made, `-a1` is disposed of; instances of one name are numbered. */
function notebook() {
  const log: string[] = [];
  const counts = new Map<string, number>();
  const define = (
    name: string,
    lifetime: ResourceLifetime = 'call',
    uses: () => readonly ResourceDefinition[] = () => [],
  ): ResourceDefinition<{ readonly id: string; readonly uses: readonly unknown[] }> =>
    defineResource({
      name,
      lifetime,
      async create({ use }) {
        const used: unknown[] = [];
        for (const definition of uses()) used.push(await use(definition));
        const count = (counts.get(name) ?? 0) + 1;
        counts.set(name, count);
        log.push(`+${name}${count}`);
        return { id: `${name}${count}`, uses: used };
      },
      dispose: ({ id }) => log.push(`-${id}`),
    });
  return { log, define };
}

function openCall(options?: CallResourceOptions) {
  const late: ResourceFailure[] = [];
  const session = createSessionResources({ onLateFailure: (failure) => late.push(failure) });
  return { late, session, call: session.open(options) };
}

// Only an engine that was told to gives its garbage collector to programs.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

describe('lifetimes', () => {
  test('a session shares its own, a call its own, and every use gets its own', async () => {
    const { define } = notebook();
    const { session, call } = openCall();
    const other = session.open();
    const ids = async (definition: ResourceDefinition<{ readonly id: string }>) => {
      const asked = [call.use(definition), call.use(definition), other.use(definition)];
      return (await Promise.all(asked)).map(({ id }) => id);
    };
    expect(await ids(define('s', 'session'))).toEqual(['s1', 's1', 's1']);
    expect(await ids(define('c', 'call'))).toEqual(['c1', 'c1', 'c2']);
    expect(await ids(define('u', 'use'))).toEqual(['u1', 'u2', 'u3']);
  });

  test('a nested call has its own, closed first; the outer one is what it was (L02)', async () => {
    const { log, define } = notebook();
    const { session, call } = openCall();
    const [shared, own] = [define('s', 'session'), define('c')];
    await call.use(shared);
    const outer = await call.use(own);
    const nested = call.open();
    expect(await nested.use(own)).not.toBe(outer);
    expect(await nested.use(shared)).toBe(await call.use(shared));
    await nested.dispose();
    expect(await call.use(own)).toBe(outer);
    await call.dispose();
    await session.dispose();
    expect(log).toEqual(['+s1', '+c1', '+c2', '-c2', '-c1', '-s1']);
  });

  test.each<[ResourceLifetime, ResourceLifetime, 'may' | 'may not']>([
    ['session', 'session', 'may'],
    ['session', 'call', 'may not'],
    ['session', 'use', 'may not'],
    ['call', 'session', 'may'],
    ['call', 'call', 'may'],
    ['call', 'use', 'may not'],
    ['use', 'session', 'may'],
    ['use', 'call', 'may'],
    ['use', 'use', 'may'],
  ])('a resource with the lifetime %s that asks for one with %s: it %s (L08)', async (lifetime, used, answer) => {
    const { define } = notebook();
    const inner = define('inner', used);
    const asked = openCall().call.use(define('outer', lifetime, () => [inner]));
    if (answer === 'may') {
      expect((await asked).uses).toEqual([{ id: 'inner1', uses: [] }]);
      return;
    }
    await expect(asked).rejects.toMatchObject({
      code: 'resource.invalid',
      reason: 'lifetime',
      message: expect.stringMatching(/`outer`.*`inner`/),
      data: { resource: 'outer', used: 'inner' },
    });
  });
});

describe('the end', () => {
  test('disposes in reverse order of making, of all whatever throws', async () => {
    const log: string[] = [];
    const throwing = (name: string, dispose: () => unknown): ResourceDefinition =>
      defineResource({
        name,
        lifetime: 'call',
        create: () => name,
        dispose: (made) => {
          log.push(made);
          return dispose();
        },
      });
    const { call } = openCall();
    const [broken, rejected] = [new Error('broken'), new Error('rejected')];
    const definitions = [
      throwing('a', () => undefined),
      throwing('b', () => {
        throw broken;
      }),
      throwing('c', () => Promise.reject(rejected)),
      throwing('d', () => {
        throw null;
      }),
      defineResource({ name: 'e', lifetime: 'call', create: () => undefined }),
      throwing('f', () => 'an answer'),
    ];
    for (const definition of definitions) await call.use(definition);
    expect(await call.dispose()).toEqual([
      { name: 'd', thrown: null },
      { name: 'c', thrown: rejected },
      { name: 'b', thrown: broken },
    ]);
    expect(log).toEqual(['f', 'd', 'c', 'b', 'a']);
  });

  test('one after the other', async () => {
    const log: string[] = [];
    const slow = (name: string): ResourceDefinition =>
      defineResource({
        name,
        lifetime: 'call',
        create: () => name,
        async dispose() {
          log.push(`${name} begins`);
          await setImmediate();
          log.push(`${name} ends`);
        },
      });
    const { call } = openCall();
    for (const name of ['a', 'b']) await call.use(slow(name));
    await call.dispose();
    expect(log).toEqual(['b begins', 'b ends', 'a begins', 'a ends']);
  });

  test('a session ends its open calls first, and tells every failure once', async () => {
    const { log, define } = notebook();
    const failing = defineResource({
      name: 'failing',
      lifetime: 'call',
      create: () => 1,
      dispose: () => Promise.reject(new Error('no')),
    });
    const { session, call } = openCall();
    await call.use(define('s', 'session'));
    await call.use(define('c'));
    const nested = call.open();
    await nested.use(define('n'));
    await nested.use(failing);
    const second = session.open();
    await second.use(define('d'));
    const ended = session.dispose();
    expect(await ended).toEqual([{ name: 'failing', thrown: new Error('no') }]);
    expect(await Promise.all([call.dispose(), nested.dispose(), session.dispose()])).toEqual([[], [], []]);
    expect(log.slice(4)).toEqual(['-d1', '-n1', '-c1', '-s1']);
  });

  test('context.closed: for those who request or wait, in the scope and in those in it', async () => {
    const { session, call } = openCall();
    const never = defineResource({ name: 'never', lifetime: 'session', create: () => new Promise<number>(() => {}) });
    const nested = call.open();
    const waiting = [call.use(never), nested.use(never)];
    const other = session.open();
    const elsewhere = other.use(defineResource({ name: 'one', lifetime: 'session', create: async () => 1 }));
    await call.dispose();
    for (const asked of [...waiting, call.use(never), nested.use(never)]) {
      await expect(asked).rejects.toEqual(code('context.closed'));
    }
    expect(() => call.open()).toThrow(code('context.closed') as Error);
    expect(await elsewhere).toBe(1);
    await session.dispose();
    await expect(other.use(never)).rejects.toEqual(code('context.closed'));
    expect(() => session.open()).toThrow(code('context.closed') as Error);
  });

  test.each(['call', 'session'] as const)('the signal of a %s ends with it', async (lifetime) => {
    const signals: AbortSignal[] = [];
    const waits = defineResource({
      name: 'waits',
      lifetime,
      create: ({ signal }) => {
        signals.push(signal);
        return new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const { session, call } = openCall();
    const asked = call.use(waits);
    await call.dispose();
    expect(signals[0]?.aborted).toBe(lifetime === 'call');
    await session.dispose();
    expect(signals[0]?.aborted).toBe(true);
    await expect(asked).rejects.toEqual(code('context.closed'));
  });

  test('a waiter in a call of an ended session knows at once, however long another call takes to end', async () => {
    const hanging = defineResource({
      name: 'hanging',
      lifetime: 'call',
      create: () => 1,
      dispose: () => new Promise(() => {}),
    });
    const { session, call } = openCall();
    const never = call.use(defineResource({ name: 'never', lifetime: 'call', create: () => new Promise(() => {}) }));
    await session.open().use(hanging);
    void session.dispose();
    await expect(never).rejects.toEqual(code('context.closed'));
  });

  test('a session forgets the calls that have ended', async () => {
    const { define } = notebook();
    const session = createSessionResources({ onLateFailure: () => {} });
    const shared = define('shared', 'session');
    const own = define('own', 'call', () => [shared]);
    const useAndForget = async (): Promise<readonly WeakRef<object>[]> => {
      const call = session.open();
      const refs = [new WeakRef(await call.use(own)), new WeakRef(call)];
      await call.dispose();
      return refs;
    };
    const refs = await useAndForget();
    await setImmediate();
    collectGarbage();
    expect(refs.map((ref) => ref.deref())).toEqual([undefined, undefined]);
    await session.dispose();
  });

  test('a disposal that takes too long is given up where the host sets a limit', async () => {
    const { log, define } = notebook();
    const hanging = defineResource({
      name: 'hanging',
      lifetime: 'call',
      create: () => 1,
      dispose: () => new Promise(() => {}),
    });
    const giveUp = Promise.withResolvers<never>();
    const session = createSessionResources({
      onLateFailure: () => {},
      limit: (disposal) => Promise.race([disposal, giveUp.promise]),
    });
    const call = session.open().open();
    await call.use(define('a'));
    await call.use(hanging);
    const ended = call.dispose();
    await setImmediate();
    expect(log).toEqual(['+a1']);
    giveUp.reject('too long');
    expect(await ended).toEqual([{ name: 'hanging', thrown: 'too long' }, expect.anything()]);
    expect(log).toEqual(['+a1', '-a1']);
  });
});

describe('what is made too late', () => {
  /** `late` is built from `c` and `s`, and made when the test says so. */
  function slowly(dispose: () => unknown = () => undefined) {
    const { log, define } = notebook();
    const gate = Promise.withResolvers<void>();
    const s = define('s', 'session');
    const c = define('c', 'call', () => [s]);
    const late = defineResource({
      name: 'late',
      lifetime: 'call',
      async create(build) {
        await build.use(c);
        await gate.promise;
        log.push(`+late, ${build.signal.aborted ? 'aborted' : 'wanted'}`);
        return 1;
      },
      dispose: () => {
        log.push('-late');
        return dispose();
      },
    });
    return { log, gate, late };
  }

  test('is disposed of when it comes, and what it was built from after it', async () => {
    const { log, gate, late } = slowly();
    const { session, call } = openCall();
    const asked = call.use(late);
    await setImmediate();
    expect(await call.dispose()).toEqual([]);
    await expect(asked).rejects.toEqual(code('context.closed'));
    expect(await session.dispose()).toEqual([]);
    expect(log).toEqual(['+s1', '+c1']);
    gate.resolve();
    await setImmediate();
    expect(log).toEqual(['+s1', '+c1', '+late, aborted', '-late', '-c1', '-s1']);
  });

  test('lets go of what it was built from when it fails', async () => {
    const { log, gate, late } = slowly();
    const { session, call } = openCall();
    void call.use(late);
    await setImmediate();
    await session.dispose();
    gate.reject(new Error('gone'));
    await setImmediate();
    expect(log).toEqual(['+s1', '+c1', '-c1', '-s1']);
  });

  test('what is then wrong with it is reported to the opener of the scope', async () => {
    const thrown = new Error('left behind');
    const { gate, late } = slowly(() => {
      throw thrown;
    });
    const failures: ResourceFailure[] = [];
    const fixture = openCall({ onLateFailure: (failure) => failures.push(failure) });
    void fixture.call.open().use(late);
    await setImmediate();
    await fixture.session.dispose();
    gate.resolve();
    await setImmediate();
    expect(failures).toEqual([{ name: 'late', thrown }]);
    expect(fixture.late).toEqual([]);
  });

  test('asks in vain for more', async () => {
    const { define } = notebook();
    const gate = Promise.withResolvers<void>();
    const asked: Promise<unknown>[] = [];
    const late = defineResource({
      name: 'late',
      lifetime: 'call',
      async create({ use }) {
        await gate.promise;
        asked.push(use(define('a')));
      },
    });
    const { call } = openCall();
    void call.use(late);
    await call.dispose();
    gate.resolve();
    await setImmediate();
    expect(asked).toHaveLength(1);
    await expect(asked[0]).rejects.toEqual(code('context.closed'));
  });
});

describe('making', () => {
  test('those who ask at the same time share one', async () => {
    const { log, define } = notebook();
    const { call } = openCall();
    const a = define('a');
    const b = define('b', 'call', () => [a]);
    const [first, second, through] = await Promise.all([call.use(a), call.use(a), call.use(b)]);
    expect(second).toBe(first);
    expect(through.uses).toEqual([first]);
    expect(log).toEqual(['+a1', '+b1']);
  });

  const thrown = new TypeError('no route');
  const throwAtOnce = (): never => {
    throw thrown;
  };
  test.each([
    ['throws at once', throwAtOnce, thrown, 'no route'],
    ['throws later', () => setImmediate().then(throwAtOnce), thrown, 'no route'],
    ['throws null', () => Promise.reject(null), null, 'a thrown null'],
    ['gives a hostile thenable', () => Object.defineProperty({}, 'then', { get: throwAtOnce }), thrown, 'no route'],
  ])('resource.failed: create %s (L06)', async (_case, create, cause, message) => {
    let attempts = 0;
    const flaky = defineResource({
      name: 'flaky',
      lifetime: 'session',
      create: (): unknown => {
        attempts += 1;
        return attempts === 1 ? create() : 'made';
      },
    });
    const { call } = openCall();
    await expect(call.use(flaky)).rejects.toMatchObject({
      code: 'resource.failed',
      reason: 'create',
      message: `The resource \`flaky\` could not be created: ${message}`,
      data: { resource: 'flaky' },
      cause,
    });
    expect(await call.use(flaky)).toBe('made');
  });

  test('those who ask at the same time share a failure', async () => {
    let attempts = 0;
    const broken = defineResource({
      name: 'broken',
      lifetime: 'call',
      async create() {
        attempts += 1;
        await setImmediate();
        throwAtOnce();
      },
    });
    const { call } = openCall();
    const asked = await Promise.allSettled([call.use(broken), call.use(broken)]);
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(attempts).toBe(1);
  });

  test('what a failed create had used stays until the end, and the failure tells the way to it', async () => {
    const { log, define } = notebook();
    const a = define('a');
    const broken = define('broken', 'call', () => {
      throw new Error('boom');
    });
    const outer = define('outer', 'call', () => [a, broken]);
    const { call } = openCall();
    await expect(call.use(outer)).rejects.toMatchObject({
      message: 'The resource `outer` could not be created: The resource `broken` could not be created: boom',
      cause: { code: 'resource.failed', reason: 'create', cause: { message: 'boom' } },
    });
    expect(log).toEqual(['+a1']);
    await call.dispose();
    expect(log).toEqual(['+a1', '-a1']);
  });

  test('what is asked for without waiting is made before, and cannot be asked for later', async () => {
    const { log, define } = notebook();
    const gate = Promise.withResolvers<void>();
    const part = defineResource({
      name: 'part',
      lifetime: 'call',
      create: () => gate.promise,
      dispose: () => log.push('-part'),
    });
    let later: (() => Promise<unknown>) | undefined;
    const whole = defineResource({
      name: 'whole',
      lifetime: 'call',
      create({ use }) {
        void use(part);
        later = () => use(define('more'));
      },
      dispose: () => log.push('-whole'),
    });
    const { call } = openCall();
    const asked = call.use(whole);
    await setImmediate();
    await expect(later?.()).rejects.toEqual(code('context.closed'));
    gate.resolve();
    await asked;
    await expect(later?.()).rejects.toMatchObject({
      code: 'context.closed',
      message: expect.stringContaining('`whole`'),
    });
    await call.dispose();
    expect(log).toEqual(['-whole', '-part']);
  });

  test('nobody has to listen to what fails', async () => {
    const { define } = notebook();
    const broken = define('broken', 'call', () => {
      throw new Error('boom');
    });
    const careless = defineResource({
      name: 'careless',
      lifetime: 'call',
      create: ({ use }) => void use(broken),
    });
    const { call } = openCall();
    void call.use(broken);
    expect(await call.use(careless)).toBe(undefined);
  });

  test.each([null, 'db', { type: 'resource' }])('resource.invalid: %o is not a resource', async (token) => {
    await expect(openCall().call.use(token as never)).rejects.toEqual(code('resource.invalid'));
  });
});

describe('cycles', () => {
  /** Resources that use each other as `uses` says: `a: 'b'`. */
  function graph(uses: Readonly<Record<string, string>>, lifetime: ResourceLifetime = 'call') {
    const { log, define } = notebook();
    const wanted = new Map(Object.entries(uses));
    const all = new Map<string, ReturnType<typeof define>>();
    const get = (name: string): ReturnType<typeof define> => {
      const found = all.get(name) ?? define(name, lifetime, () => (wanted.get(name)?.split('') ?? []).map(get));
      all.set(name, found);
      return found;
    };
    return { log, get, wanted };
  }

  test.each<[string, Readonly<Record<string, string>>, ResourceLifetime, string]>([
    ['of one', { a: 'a' }, 'call', 'a -> a'],
    ['of two (L04)', { a: 'b', b: 'a' }, 'call', 'a -> b -> a'],
    ['of three', { a: 'b', b: 'c', c: 'a' }, 'session', 'a -> b -> c -> a'],
    ['behind others', { a: 'xb', b: 'c', c: 'xd', d: 'b' }, 'call', 'b -> c -> d -> b'],
    ['of what is made for each use', { a: 'b', b: 'c', c: 'a' }, 'use', 'a -> b -> c -> a'],
    ['of one that is made for each use', { a: 'a' }, 'use', 'a -> a'],
  ])('resource.invalid: cycle: %s', async (_case, uses, lifetime, path) => {
    const { get, wanted } = graph(uses, lifetime);
    const { call } = openCall();
    const asked = call.use(get('a'));
    await expect(asked).rejects.toMatchObject({
      code: 'resource.invalid',
      reason: 'cycle',
      message: expect.stringContaining(`: ${path}.`),
      data: { path: path.split(' -> ') },
    });
    // Nothing of it is kept: once the way round is open, all of it can be made.
    wanted.clear();
    for (const name of Object.keys(uses)) expect(await call.use(get(name))).toMatchObject({ id: `${name}1` });
  });

  test('resource.invalid: cycle: of constructions that were started on their own', async () => {
    const started = Promise.withResolvers<void>();
    const define = (name: string, next: () => ResourceDefinition): ResourceDefinition =>
      defineResource({
        name,
        lifetime: 'session',
        async create({ use }) {
          await started.promise;
          return use(next());
        },
      });
    const a: ResourceDefinition = define('a', () => b);
    const b: ResourceDefinition = define('b', () => c);
    const c: ResourceDefinition = define('c', () => a);
    const { session, call } = openCall();
    const asked = [call.use(c), session.open().use(a), session.open().use(b)];
    started.resolve();
    for (const answer of asked) {
      await expect(answer).rejects.toMatchObject({
        code: 'resource.invalid',
        reason: 'cycle',
        data: { path: ['c', 'a', 'b', 'c'] },
      });
    }
  });

  test('a create that can do without goes on', async () => {
    const { define } = notebook();
    const a = define('a', 'call', () => [b]);
    const b: ResourceDefinition = defineResource({
      name: 'b',
      lifetime: 'call',
      create: ({ use }) => use(a).catch((error: HoldfastError) => describeCode(error)),
    });
    expect((await openCall().call.use(a)).uses).toEqual(['resource.invalid: cycle']);
  });

  test('one that is not waited for is one', async () => {
    const { define } = notebook();
    const b: ResourceDefinition = define('b', 'call', () => [a]);
    const answers: Promise<unknown>[] = [];
    const a = defineResource({ name: 'a', lifetime: 'call', create: ({ use }) => void answers.push(use(b)) });
    expect(await openCall().call.use(a)).toBe(undefined);
    await expect(answers[0]).rejects.toMatchObject({ data: { path: ['a', 'b', 'a'] } });
  });

  test('who has given up waiting is in none', async () => {
    const gate = Promise.withResolvers<void>();
    let attempts = 0;
    const b = defineResource({
      name: 'b',
      lifetime: 'call',
      async create({ use }): Promise<unknown> {
        await gate.promise;
        return use(a);
      },
    });
    const a = defineResource({
      name: 'a',
      lifetime: 'call',
      create({ use }): string {
        attempts += 1;
        if (attempts > 1) return 'made without';
        void use(b);
        throw new Error('given up');
      },
    });
    const { call } = openCall();
    const asked = call.use(b);
    await expect(call.use(a)).rejects.toMatchObject({ code: 'resource.failed', reason: 'create' });
    gate.resolve();
    expect(await asked).toBe('made without');
  });

  test('what a failed create has left under way does not start it again', async () => {
    let attempts = 0;
    const c: ResourceDefinition = defineResource({
      name: 'c',
      lifetime: 'call',
      async create({ use }) {
        await setImmediate();
        return use(a);
      },
    });
    const a: ResourceDefinition = defineResource({
      name: 'a',
      lifetime: 'call',
      create({ use }) {
        attempts += 1;
        return Promise.all([use(a), use(c)]);
      },
    });
    await expect(openCall().call.use(a)).rejects.toMatchObject({ data: { path: ['a', 'a'] } });
    for (let wait = 0; wait < 10; wait += 1) await setImmediate();
    expect(attempts).toBe(1);
  });

  test('many ways to one are none', async () => {
    const { log, get } = graph({ a: 'bcd', b: 'd', c: 'bd', d: 'e' });
    const { call } = openCall();
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => call.use(get(name))));
    await call.dispose();
    expect(log).toEqual(['+e1', '+d1', '+b1', '+c1', '+a1', '-a1', '-c1', '-b1', '-d1', '-e1']);
  });
});

describe('what the host bound', () => {
  test('a value is the instance for everybody, and the host keeps it', async () => {
    const { log, define } = notebook();
    const value = { id: 'host', uses: [] };
    const [s, u] = [define('s', 'session'), define('u', 'use')];
    const [bySession, byCall] = [define('bySession', 'session', () => [s]), define('byCall', 'call', () => [u])];
    const { session, call } = openCall({
      bound: new Map([
        ['s', value],
        ['u', value],
      ]),
    });
    for (const definition of [s, u, define('s'), define('u', 'session')])
      expect(await call.use(definition)).toBe(value);
    expect((await call.use(bySession)).uses).toEqual([value]);
    await expect(call.use(byCall)).resolves.toMatchObject({ uses: [value] });
    expect(await call.open().use(s)).toBe(value);
    expect(await call.open({ bound: new Map() }).use(s)).toMatchObject({ id: 's1' });
    await session.dispose();
    expect(log).toEqual(['+bySession1', '+byCall1', '+s1', '-byCall1', '-s1', '-bySession1']);
  });

  test('another resource takes the place of the one asked for, with its own lifetime', async () => {
    const { log, define } = notebook();
    const [real, fake] = [define('clock', 'session'), define('fake', 'call')];
    const { session, call } = openCall({ bound: new Map([['clock', fake]]) });
    expect(await call.use(real)).toBe(await call.use(fake));
    await expect(call.use(define('user', 'session', () => [real]))).rejects.toMatchObject({
      code: 'resource.invalid',
      reason: 'lifetime',
      data: { resource: 'user', used: 'fake' },
    });
    await call.dispose();
    expect(await session.open().use(real)).toMatchObject({ id: 'clock1' });
    expect(log).toEqual(['+fake1', '-fake1', '+clock1']);
  });

  test.each([null, 0, false, ''])('%o is a value', async (value) => {
    const { define } = notebook();
    expect(await openCall({ bound: new Map([['a', value]]) }).call.use(define('a'))).toBe(value);
  });

  test('undefined is none', async () => {
    const { define } = notebook();
    const { call } = openCall({ bound: new Map([['a', undefined]]) });
    expect(await call.use(define('a'))).toMatchObject({ id: 'a1' });
  });

  test.each(['session', 'call', 'use'] as const)(
    'resource.invalid: name_conflict: two of one name in one %s',
    async (lifetime) => {
      const { define } = notebook();
      const { call } = openCall();
      const [one, two] = [define('a', lifetime), define('a', lifetime)];
      await call.use(one);
      await expect(call.use(two)).rejects.toMatchObject({
        code: 'resource.invalid',
        reason: 'name_conflict',
        message: expect.stringContaining('`a`'),
        data: { name: 'a' },
      });
      await expect(call.use(define('b', lifetime, () => [two]))).rejects.toEqual(
        expect.objectContaining({ code: 'resource.invalid', reason: 'name_conflict' }),
      );
      expect(await call.use(one)).toBeDefined();
      expect(await call.open({ bound: new Map([['a', two]]) }).use(one)).toBeDefined();
      const elsewhere = call.open().use(two);
      if (lifetime === 'session')
        await expect(elsewhere).rejects.toEqual(
          expect.objectContaining({ code: 'resource.invalid', reason: 'name_conflict' }),
        );
      else expect(await elsewhere).toBeDefined();
    },
  );
});

describe('views', () => {
  const staged = defineResource({ name: 'words', lifetime: 'session', create: () => wordsResource() });

  test('a call gives out its own view, to its tool and to what is built in it', async () => {
    const { define } = notebook();
    const seen: unknown[] = [];
    const view = (instance: unknown, name: string): unknown => {
      seen.push(name);
      return { viewOf: instance };
    };
    const bound = new Map<string, unknown>([['bound', wordsResource()]]);
    const { session, call } = openCall({ view, bound });
    const raw = await session.open().use(staged);
    expect(await call.use(staged)).toEqual({ viewOf: raw });
    expect(await call.use(define('bound'))).toEqual({ viewOf: bound.get('bound') });
    expect(seen).toEqual(['words', 'bound']);
    const built = await session.open({ view: () => 'mine' }).use(define('built', 'call', () => [staged]));
    expect(built).toBe('mine');
    expect(await call.open().use(define('plain', 'use', () => [staged]))).toMatchObject({ uses: [raw] });
  });

  test('what building a view throws is the answer', async () => {
    const { define } = notebook();
    const { call } = openCall({
      view: () => {
        throw new Error('no view');
      },
    });
    const a = define('a');
    await expect(call.use(a)).rejects.toThrow('no view');
    await expect(call.use(a)).rejects.toThrow('no view');
    await expect(call.use(define('b', 'call', () => [a]))).rejects.toMatchObject({
      code: 'resource.failed',
      reason: 'create',
    });
  });

  test('a call that has ended has none any more', async () => {
    const gate = Promise.withResolvers<string>();
    const slow = defineResource({ name: 'slow', lifetime: 'session', create: () => gate.promise });
    const seen: unknown[] = [];
    const { session, call } = openCall({ view: (instance) => seen.push(instance) });
    void call.use(slow);
    await call.dispose();
    gate.resolve('made');
    expect(await session.open().use(slow)).toBe('made');
    expect(seen).toEqual([]);
  });

  test('resource.invalid: lifetime: a session has no view of what is staged', async () => {
    const { define } = notebook();
    const { call } = openCall({ bound: new Map([['bound', wordsResource()]]) });
    for (const [name, used] of [
      ['words', staged],
      ['bound', define('bound', 'session')],
    ] as const) {
      await expect(call.use(define(`by-${name}`, 'session', () => [used]))).rejects.toMatchObject({
        code: 'resource.invalid',
        reason: 'lifetime',
        data: { resource: `by-${name}`, used: name },
      });
    }
  });
});
