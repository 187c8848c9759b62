import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const index = (name: string): string => fileURLToPath(new URL(`../../../${name}/src/index.ts`, import.meta.url));

/** Makes calls in sessions and drops these, while the lists of tools and policies live on; `measure` prints what is left. */
const program = (measure: string): string => `
import { allow, definePolicy, defineTool } from ${JSON.stringify(index('core'))};
import { createSession } from ${JSON.stringify(index('session'))};
import { executeToolCall } from ${JSON.stringify(index('executor'))};
const tools = [defineTool({ name: 'look', description: 'Looks.', effects: 'state', execute: () => null })];
const policies = [
  definePolicy({ name: 'plain', check: () => allow }),
  definePolicy({ name: 'counting', initialState: 0, check: () => allow, onResult: (_call, _result, { state }) => state + 1 }),
  definePolicy({ name: 'looking', check: (_call, { session }) => (session === undefined ? undefined : allow) }),
];
const options = { tools, policies, onEvent: () => undefined };
const dropped = [];
async function work(note) {
  const session = createSession();
  note?.(session);
  for (let count = 0; count < 500; count += 1) {
    const { kind } = await executeToolCall({ name: 'look', arguments: '{}' }, { ...options, session });
    if (kind !== 'ok') throw new Error(kind);
  }
}
// Releases values that a promise or a WeakRef holds for one turn.
const turn = () => new Promise((resolve) => setImmediate(resolve));
await work();
${measure}
`;

const counted = `
for (let count = 0; count < 5; count += 1) await work((session) => dropped.push(new WeakRef(session)));
await turn();
gc();
await turn();
console.log(dropped.filter((reference) => reference.deref() !== undefined).length);
`;

const weighed = `
async function left() {
  await turn();
  gc({ type: 'minor' });
  gc({ type: 'minor' });
  return process.memoryUsage().heapUsed;
}
const kept = [];
for (let round = 0; round < 5; round += 1) {
  gc();
  const before = await left();
  for (let count = 0; count < 10; count += 1) await work();
  kept.push((await left()) - before);
}
console.log(Math.min(...kept));
`;

test.each([
  ['no list of tools or policies keeps a session', counted, 0],
  // The logs of ten take 4 MB.
  ['a session in which calls were made is gone after a young collection', weighed, 1_000_000],
])('%s', (_name, measure, most) => {
  const young = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64', '--predictable'];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=holdfast-source', ...young, '--input-type=module', '--eval', program(measure)],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect(Number(stdout)).toBeLessThanOrEqual(most);
});
