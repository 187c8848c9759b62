import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@holdfast/core';
import { openCaller } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { type LoadedTools, loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder = '';
let loaded: LoadedTools | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-attempts-'));
});
afterEach(async () => {
  await loaded?.close();
  rmSync(folder, { recursive: true, force: true });
});

const timeoutMs = 60_000;
// A thread takes a moment to end.
const pauseMs = 1_000;

test.each(['worker', 'subprocess'] as const)(
  '%s: an attempt that hangs is killed, and the next one runs anew',
  async (isolation) => {
    const begun = join(folder, 'begun');
    writeFileSync(
      join(folder, 'tool.mjs'),
      `import { existsSync, writeFileSync } from 'node:fs';
export const METADATA = { name: 'tool', function: 'work', description: 'Hangs once.', dangerous: false, parameters: { type: 'object', properties: {} }, effects: 'external', repeat: 'safe' };
export async function work(input, { filesystem, trace, progress }) {
  const first = !existsSync(${JSON.stringify(begun)});
  await filesystem.write(first ? 'first.txt' : 'second.txt', 'x');
  if (first) { writeFileSync(${JSON.stringify(begun)}, ''); await progress('hangs'); for (;;); }
  return { trace };
}`,
    );
    loaded = await loadTools(folder, { isolation });
    expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const filesystem = memoryFilesystem({});
    let endAttempt = (): void => undefined;
    const clock: Clock = {
      now: () => systemClock.now(),
      after(delayMs, run) {
        if (delayMs <= pauseMs) return systemClock.after(delayMs, run);
        endAttempt = run;
        return () => undefined;
      },
    };
    const caller = openCaller({
      tools: loaded.tools,
      session: createSession(),
      resources: { filesystem },
      clock,
      // The time of the attempt is over as soon as it hangs.
      onEvent: ({ type }) => void (type === 'tool-call-progress' && endAttempt()),
    });
    const outcome = await caller.execute(
      { id: 'c', name: 'tool', arguments: {} },
      { attemptTimeoutMs: timeoutMs, attempts: 2, delayMs: () => pauseMs, trace: () => [] },
    );
    expect(existsSync(begun)).toBe(true);
    expect(outcome).toMatchObject({ kind: 'ok', attempts: 2, value: { trace: [] } });
    expect(await filesystem.readOnly.stat('first.txt')).toBeUndefined();
    expect(await filesystem.readOnly.stat('second.txt')).toBeDefined();
    caller.dispose();
  },
);
