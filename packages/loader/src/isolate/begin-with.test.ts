import { expect, test } from 'vitest';
import { beginWith } from './begin-with.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Setting {
  readonly needed: PromiseWithResolvers<string>;
  readonly controller: AbortController;
  readonly seen: string[];
  readonly beginning: Promise<string>;
}

function setUp({ aborted = false, refused = false } = {}): Setting {
  const needed = Promise.withResolvers<string>();
  const controller = new AbortController();
  const seen: string[] = [];
  if (aborted) controller.abort('over');
  const begin = async (): Promise<void> => {
    seen.push('begun');
    if (refused) throw new Error('refused');
  };
  const beginning = beginWith(needed.promise, { signal: controller.signal, begin }, (late) =>
    seen.push(`${late} back`),
  );
  beginning.catch(() => undefined);
  return { needed, controller, seen, beginning };
}

test('a call starts once its resource is ready', async () => {
  const { needed, seen, beginning } = setUp();
  await turn();
  expect(seen).toEqual([]);
  needed.resolve('process');
  expect(await beginning).toBe('process');
  expect(seen).toEqual(['begun']);
});

test.each([true, false])(
  'a call aborted early (before preparing: %o) does not start, and releases the resource',
  async (aborted) => {
    const { needed, controller, seen, beginning } = setUp({ aborted });
    controller.abort('over');
    await expect(beginning).rejects.toBe('over');
    needed.resolve('process');
    await turn();
    expect(seen).toEqual(['process back']);
  },
);

test('a call that fails to start releases the resource', async () => {
  const { needed, seen, beginning } = setUp({ refused: true });
  needed.resolve('process');
  await expect(beginning).rejects.toThrow('refused');
  expect(seen).toEqual(['begun', 'process back']);
});

test('if preparing fails, nothing starts and nothing is released', async () => {
  const { needed, controller, seen, beginning } = setUp();
  needed.reject(new Error('missing'));
  await expect(beginning).rejects.toThrow('missing');
  controller.abort();
  await turn();
  expect(seen).toEqual([]);
});
