import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callOf, runPolicy } from './fixtures.ts';
import { sequentialDependency } from './sequential-dependency.ts';

const release = { deploy: ['test', 'build'], build: ['lint'] };

test.each([
  { done: [], call: 'deploy', type: 'deny' },
  { done: [], call: 'build', type: 'deny' },
  { done: [], call: 'lint', type: 'allow' },
  { done: [], call: 'unrelated', type: 'allow' },
  { done: ['lint'], call: 'build', type: 'allow' },
  { done: ['test'], call: 'deploy', type: 'deny' },
  { done: ['build'], call: 'deploy', type: 'deny' },
  { done: ['test', 'build'], call: 'deploy', type: 'allow' },
  { done: ['test', 'build', 'deploy'], call: 'deploy', type: 'allow' },
])('$call after [$done]: $type', async ({ done, call, type }) => {
  const run = runPolicy(sequentialDependency(release));
  for (const name of done) run.succeed(callOf(name));
  expect(await run.check(callOf(call))).toMatchObject({ type });
});

test('the reason names only missing tools', async () => {
  const run = runPolicy(sequentialDependency(release));
  run.succeed(callOf('test'));
  expect(await run.check(callOf('deploy'))).toEqual({
    type: 'deny',
    reason: '`deploy` needs `build` to succeed first: call `build`, then retry.',
  });
});

test('E10: a denied call may run once its dependencies have succeeded', async () => {
  const run = runPolicy(sequentialDependency(release));
  expect(await run.check(callOf('deploy'))).toMatchObject({ type: 'deny' });
  for (const name of ['lint', 'test', 'build', 'deploy']) {
    expect(await run.check(callOf(name))).toMatchObject({ type: 'allow' });
    run.succeed(callOf(name));
  }
});

test('E12, E14: only the state determines what has succeeded', async () => {
  const policy = sequentialDependency(release);
  const run = runPolicy(policy);
  const before = run.save();
  run.succeed(callOf('lint'));
  expect(await run.check(callOf('build'))).toMatchObject({ type: 'allow' });
  run.load(before);
  expect(await run.check(callOf('build'))).toMatchObject({ type: 'deny' });
  expect(await runPolicy(policy).check(callOf('build'))).toMatchObject({ type: 'deny' });
});

test('mentions every name once, and stores no other', () => {
  const policy = sequentialDependency({ ...release, publish: ['test', 'test'] });
  expect(policy.mentions).toEqual(['deploy', 'build', 'publish', 'test', 'lint']);
  const run = runPolicy(policy);
  for (const name of ['deploy', 'unrelated', 'test']) run.succeed(callOf(name));
  expect(run.save()).toBe('[["test",true]]');
});

test('takes an id', () => {
  expect(sequentialDependency(release, { id: 'release-order' })).toMatchObject({
    name: 'sequential-dependency',
    id: 'release-order',
  });
});

test.each([
  { dependencies: { a: ['a'] }, cycle: ['a', 'a'] },
  { dependencies: { a: ['b'], b: ['c'], c: ['b'] }, cycle: ['b', 'c', 'b'] },
  { dependencies: { a: ['b', 'c'], b: ['d'], c: ['d'], d: ['a'] }, cycle: ['a', 'b', 'd', 'a'] },
])('$dependencies is policy.invalid: dependency.cycle', ({ dependencies, cycle }) => {
  expect(() => sequentialDependency(dependencies)).toThrow(
    expect.objectContaining({
      code: 'policy.invalid',
      reason: 'dependency.cycle',
      data: { reason: 'dependency.cycle', cycle },
    }),
  );
});

test('two paths to one tool are not a cycle', () => {
  expect(() => sequentialDependency({ a: ['b', 'c'], b: ['d'], c: ['d'] })).not.toThrow();
});

test.each([
  // The casts stand for an untyped host.
  { dependencies: null as unknown as Record<string, string[]>, code: 'options.invalid' },
  { dependencies: { deploy: 'test' as unknown as string[] }, code: 'options.invalid' },
  { dependencies: { deploy: [7] as unknown as string[] }, code: 'options.invalid' },
  { dependencies: { Deploy: ['test'] }, code: 'tool.invalid', reason: 'name.invalid' },
  { dependencies: { deploy: ['constructor'] }, code: 'tool.invalid', reason: 'name.reserved' },
])('$dependencies is $code', ({ dependencies, code, reason }) => {
  expect(() => sequentialDependency(dependencies)).toThrow(expect.objectContaining({ code, reason }));
});

test('any sequence of calls is decided as by a set of successes', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'] as const;
  // Names depend only on later ones, so there are no cycles.
  const dependencies = fc
    .tuple(...names.map((_, index) => fc.subarray(names.slice(index + 1))))
    .map((lists) => Object.fromEntries(names.map((name, index) => [name, lists[index] ?? []])));
  const calls = fc.array(fc.record({ name: fc.constantFrom(...names), success: fc.boolean() }));
  await fc.assert(
    fc.asyncProperty(dependencies, calls, async (needs, sequence) => {
      const run = runPolicy(sequentialDependency(needs));
      const done = new Set<string>();
      for (const { name, success } of sequence) {
        const expected = (needs[name] ?? []).every((needed) => done.has(needed)) ? 'allow' : 'deny';
        expect(await run.check(callOf(name))).toMatchObject({ type: expected });
        if (expected === 'allow' && success) {
          run.succeed(callOf(name));
          done.add(name);
        }
      }
    }),
  );
});
