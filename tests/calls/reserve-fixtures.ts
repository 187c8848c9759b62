import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  allow,
  definePolicy,
  defineTool,
  type KeyedState,
  type Policy,
  type Tool,
  toolError,
  upsert,
} from '@holdfast/core';
import { createSession, memoryStore, type OpenedLog, replay, type Session } from '@holdfast/session';
import { createJsonlLog, openJsonlLog } from '@holdfast/session/jsonl';
import { createSqliteLog, openSqliteLog } from '@holdfast/session/sqlite';
import * as v from 'valibot';
import { shortKey } from '../logs/short-key.ts';

/** Counts what calls have spent and what may have been spent, by the keys of the calls. */
export const purse: Policy<KeyedState<number>> = definePolicy<number>({
  name: 'purse',
  stateKind: 'keyed',
  check: () => allow,
  onResult: ({ input }, _result, { state }) => upsert('spent', (state.get('spent') ?? 0) + amountOf(input)),
  reserve: ({ input }, { callKey }) => upsert(shortKey(callKey), amountOf(input)),
});

function amountOf(input: unknown): number {
  return (input as { readonly amount: number }).amount;
}

/** The state of `purse`, as the session holds it. */
export function purseOf(session: Session): Readonly<Record<string, unknown>> {
  const state = session.export().slices.find(({ id }) => id === 'policy:host/purse')?.state ?? [];
  return Object.fromEntries(state as [string, unknown][]);
}

/** The next action of a tool. `hang`: its process will end under it. */
export type Manner = 'ok' | 'fail' | 'doubt' | 'hang';

/** `pay` does what its arguments say; `buy` pays by it first. `keyed`: they may be run again. */
export function payTools(options: Partial<Pick<Tool, 'repeat' | 'probe'>> = {}): readonly Tool[] {
  const manner = v.picklist(['ok', 'fail', 'doubt', 'hang']);
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: v.object({ amount: v.number(), manner }),
    ...(options as object),
    execute: (input) => behave(input.manner) as never,
  });
  const buy = defineTool({
    name: 'buy',
    description: 'Pays for something.',
    inputSchema: v.object({ amount: v.number(), manner, inner: v.object({ amount: v.number(), manner }) }),
    ...(options as object),
    async execute(input, { call }) {
      await call('pay', input.inner);
      return behave(input.manner) as never;
    },
  });
  return [pay as Tool, buy as Tool];
}

function behave(manner: Manner): unknown {
  switch (manner) {
    case 'ok':
      return 'done';
    case 'fail':
      return toolError('No.');
    case 'doubt':
      return undefined;
    case 'hang':
      return new Promise(() => undefined);
  }
}

export const storeKinds = ['memory', 'jsonl', 'jsonl with snapshots', 'sqlite', 'sqlite with snapshots'] as const;
export type StoreKind = (typeof storeKinds)[number];

/** A log in a folder of its own. */
export interface Home extends Disposable {
  /** The session as a new process finds it; the one before is gone. */
  open(): Promise<Session>;
}

export function makeHome(kind: StoreKind): Home {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-reserve-'));
  const memory = memoryStore();
  const options = kind.endsWith('snapshots') ? { snapshotAfterBytes: 0 } : {};
  const path = join(folder, 'log');
  let session: Session | undefined;
  const openStore = (): OpenedLog => {
    if (kind === 'memory') return { records: memory.records, store: memory };
    if (kind.startsWith('jsonl')) {
      return session === undefined
        ? { records: [], store: createJsonlLog(path, options) }
        : openJsonlLog(path, options);
    }
    const place = { sessionId: 's', ...options };
    return session === undefined ? { records: [], store: createSqliteLog(path, place) } : openSqliteLog(path, place);
  };
  return {
    async open() {
      await session?.close();
      const { records, store } = openStore();
      session = records.length === 0 ? createSession({ id: 's', store }) : replay(records, { store });
      return session;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Waits until `count` tools of the session hang. */
export async function untilStarted(session: Session, count: number): Promise<void> {
  for (let round = 0; round < 10_000; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if ([...session.records()].filter(({ type }) => type === 'tool-call-start').length >= count) break;
  }
  // A nested call has to end.
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
