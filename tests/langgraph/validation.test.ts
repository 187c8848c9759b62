import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint';
import {
  type CheckpointSaverTestInitializer,
  deltaChannelHistoryTests,
  specTest,
  validate,
} from '@langchain/langgraph-checkpoint-validation';
import { afterAll, expect, inject, test } from 'vitest';
import { beginSession, LogPlaces } from './checkpoint-logs.ts';
import { HoldfastCheckpointSaver } from './checkpoint-saver.ts';
import { differences, peer } from './differences.ts';
import { JudgedChecks } from './judged-checks.ts';
import { ReopeningSaver } from './reopening-saver.ts';

const isLong = inject('long') > 0;
const checks = new JudgedChecks();
checks.provide();
const places = new LogPlaces();
afterAll(() => places[Symbol.dispose]());

const savers: string[] = [];

function validateAll<Saver extends BaseCheckpointSaver>(initializer: CheckpointSaverTestInitializer<Saver>): void {
  savers.push(initializer.checkpointerName);
  validate(initializer);
  // Not part of `validate` by default.
  deltaChannelHistoryTests(initializer);
}

for (const [store, makePlace] of Object.entries(places.byStore)) {
  // Snapshots are read only on opening; a file that stays open behaves like memory.
  if (store === 'memory' || (isLong && !store.endsWith('snapshots'))) {
    validateAll({
      checkpointerName: `${store}, open all the time`,
      createCheckpointer: () => new HoldfastCheckpointSaver(beginSession(makePlace())),
      destroyCheckpointer: (saver) => saver.session.close(),
    });
  }
  validateAll({
    checkpointerName: `${store}, opened anew before every call`,
    createCheckpointer: () => new ReopeningSaver(makePlace()),
    destroyCheckpointer: (saver) => saver.close(),
  });
}
specTest({ checkpointerName: peer, createCheckpointer: () => new MemorySaver() }, ['put']);

test('every check ran with every store, and every difference occurred', () => {
  expect(savers).toHaveLength(isLong ? 8 : 6);
  // The number of checks in the pinned version of the suite.
  for (const saver of savers) expect(checks.ranOf(saver)).toHaveLength(726);
  for (const { saver, check } of differences) expect(checks.ranOf(saver)).toContain(check);
});
