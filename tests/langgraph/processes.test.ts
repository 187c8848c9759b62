import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { afterAll, expect, test } from 'vitest';
import { beginSession, jsonlPlace, LogPlaces, reopenSession, sqlitePlace } from './checkpoint-logs.ts';
import { HoldfastCheckpointSaver } from './checkpoint-saver.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-checkpoint-kills-'));
const places = new LogPlaces();
afterAll(() => {
  places[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const program = fileURLToPath(new URL('checkpoint-writer.ts', import.meta.url));

/** Kills a writer after a number of lines and returns them. */
async function writeUntilKilled(lines: number, store: string, path: string, threadId: string): Promise<string[]> {
  const child = spawn(process.execPath, [
    '--conditions=holdfast-source',
    '--disable-warning=ExperimentalWarning',
    ...[program, store, path, threadId],
  ]);
  let said = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said.split('\n').length > lines) child.kill('SIGKILL');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [, signal] = (await once(child, 'close')) as unknown[];
  expect({ signal, errors }).toEqual({ signal: 'SIGKILL', errors: '' });
  // The last line may be incomplete.
  return said.split('\n').slice(0, -1);
}

test.each([
  { store: 'jsonl', toPlace: jsonlPlace },
  { store: 'sqlite', toPlace: (path: string) => sqlitePlace(path, { sessionId: 'checkpoints' }) },
])('$store: every checkpoint that was acknowledged outlives kills', async ({ store, toPlace }) => {
  const path = join(folder, store);
  const acknowledged = new Map<string, number>();
  for (const lines of [3, 60]) {
    const threadId = `until ${lines}`;
    const said = await writeUntilKilled(lines, store, path, threadId);
    expect(said).toEqual(said.map((_, step) => String(step)));
    expect(said.length).toBeGreaterThanOrEqual(lines);
    acknowledged.set(threadId, said.length);
  }
  const session = reopenSession(toPlace(path));
  const saver = new HoldfastCheckpointSaver(session);
  for (const [threadId, count] of acknowledged) {
    const steps = new Map<unknown, unknown>();
    for await (const { checkpoint, pendingWrites } of saver.list({ configurable: { thread_id: threadId } })) {
      steps.set(checkpoint.channel_values['step'], pendingWrites);
    }
    for (let step = 0; step < count; step += 1) expect(steps.get(step)).toEqual([['task', 'done', step]]);
    // At most one more, which was written but not acknowledged at the kill.
    expect(steps.size - count).toBeOneOf([0, 1]);
  }
  await session.close();
});

test.each(['jsonl', 'sqlite'])('%s: a log has one saver at a time', async (store) => {
  const place = places.byStore[store]?.();
  if (place === undefined) throw new Error(`no store \`${store}\``);
  const config = { configurable: { thread_id: '1' } };
  const session = beginSession(place);
  const saver = new HoldfastCheckpointSaver(session);
  await saver.put(config, emptyCheckpoint(), { source: 'input', step: -1, parents: {} }, {});
  expect(() => reopenSession(place)).toThrow(expect.objectContaining({ code: 'log.locked' }));
  // The first one continues undisturbed.
  await saver.put(config, emptyCheckpoint(), { source: 'loop', step: 0, parents: {} }, {});
  await session.close();

  const reopened = reopenSession(place);
  expect((await new HoldfastCheckpointSaver(reopened).getTuple(config))?.metadata?.step).toBe(0);
  await reopened.close();
});
