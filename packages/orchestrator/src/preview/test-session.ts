import { append, defineSlice, type ListState, type Slice, type StagedResource } from '@holdfast/core';
import { createSession, type LogRecord, type Session, type SessionStore } from '@holdfast/session';
import { testClock } from './test-clock.ts';

export const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload) },
});

export function testSession(): { readonly session: Session; readonly records: readonly LogRecord[] } {
  const records: LogRecord[] = [];
  const store: SessionStore = {
    append: (entry, seq, atMs) => void records.push({ seq, atMs, ...entry }),
    close: () => undefined,
  };
  return { session: createSession({ id: 's', nonce: '', slices: [notes], store, clock: testClock() }), records };
}

/** A staged resource that throws if a transaction begins. */
export function untouchable(): StagedResource & { readonly begun: () => number } {
  let begun = 0;
  return {
    type: 'staged-resource',
    readOnly: {},
    begin() {
      begun += 1;
      throw new Error('A preview must not stage anything.');
    },
    begun: () => begun,
  };
}
