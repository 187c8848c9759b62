import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { startEngine } from './test-engine.ts';
import { moduleFiles, moduleText } from './test-module-texts.ts';

setFlagsFromString('--expose-gc');
// The flag makes a global of every new context.
const collect = runInNewContext('gc') as () => void;

test('past versions and unread events take no memory', async () => {
  const { engine, source, clock, ask } = await startEngine(moduleFiles(['a']));
  const watch = await engine.watch();
  const idle = watch[Symbol.asyncIterator]();
  const padding = 'x'.repeat(20_000);
  const versions: WeakRef<object>[] = [];
  let earlyBytes = 0;
  for (let version = 2; version <= 1_201; version += 1) {
    const isBroken = version % 5 === 0;
    const text = moduleText('a', version, { metadata: { version: '1', padding: `${version} ${padding}` } });
    source.write('a.json', isBroken ? text.slice(0, -1) : text);
    clock.advance(50);
    await engine.reloadModule('a');
    expect(await ask('a')).toBe(`${isBroken ? version - 1 : version}`);
    const module = engine.getModule('a');
    if (module !== undefined) versions.push(new WeakRef(module));
    if (version !== 600) continue;
    collect();
    earlyBytes = process.memoryUsage().heapUsed;
  }
  collect();
  // Each version has 20 kB.
  expect(process.memoryUsage().heapUsed - earlyBytes).toBeLessThan(3_000_000);
  expect(versions.filter((one) => one.deref() !== undefined).length).toBeLessThan(10);
  // The reload by hand finds what the watch has read.
  expect(watch.counters.removed).toBe(0);
  expect(watch.counters.missed).toBeGreaterThan(0);
  watch.close();
  expect(await idle.next()).toMatchObject({ done: false });
});
