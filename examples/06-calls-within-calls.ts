// A tool that calls others: their effects are kept only if it succeeds, and the log records and rebuilds everything.
import assert from 'node:assert/strict';
import { append, defineSlice, defineTool, toolError, toolOk } from '@holdfast/core';
import { createBudget, executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { createSession, explainCall, memoryStore, replay } from '@holdfast/session';
import * as v from 'valibot';

const bookings = defineSlice<string>({
  id: 'bookings',
  kind: 'list',
  schema: v.string(),
  reducers: { booked: (_state, payload) => append(payload) },
});
const what = v.object({ what: v.string() });

const book = defineTool({
  name: 'book',
  description: 'Book one part of a trip and write its voucher.',
  effects: 'state',
  inputSchema: what,
  async execute({ what: part }, { session, filesystem }) {
    session.dispatch({ type: 'booked', payload: part });
    await filesystem?.write(`vouchers/${part}.txt`, `One ${part}.`);
    return part === 'moon hotel' ? toolError('There is no hotel on the moon.') : toolOk(part, `Booked a ${part}.`);
  },
});

const bookTrip = defineTool({
  name: 'book_trip',
  description: 'Book every part of a trip, or none.',
  effects: 'state',
  inputSchema: v.object({ parts: v.array(v.string()) }),
  async execute({ parts }, { call, session }) {
    for (const part of parts) {
      const { kind, text } = await call('book', { what: part });
      if (kind !== 'ok') return toolError(`The trip was not booked: ${text}`);
    }
    return toolOk({ booked: session.read(bookings).size });
  },
});

const store = memoryStore();
const session = createSession({ id: 'trips', slices: [bookings], store });
const filesystem = memoryFilesystem({});
const budget = createBudget({ maxCalls: 10 });
const bookAll = (id: string, parts: readonly string[]) =>
  executeToolCall(
    { id, name: 'book_trip', arguments: { parts } },
    { tools: [book, bookTrip], session, budget, resources: { filesystem } },
  );

assert.equal((await bookAll('a', ['flight', 'hotel'])).kind, 'ok');
assert.equal((await bookAll('b', ['train', 'moon hotel'])).kind, 'failed');

// The train was booked, and rolled back with the failed trip.
assert.deepEqual(session.read(bookings).toArray(), ['flight', 'hotel']);
assert.equal(await filesystem.readOnly.stat('vouchers/train.txt'), undefined);
assert.equal(budget.used.calls, 6);

// The log records every call, and is enough to rebuild the session.
const [use] = explainCall(store.records, 'b')?.uses ?? [];
assert.deepEqual(
  use?.nested.map(({ callId, end, changed }) => [callId, end?.outcome.kind, changed.kept]),
  [
    ['b/1', 'ok', false],
    ['b/2', 'failed', false],
  ],
);
const rebuilt = replay(store.records, { slices: [bookings] });
assert.deepEqual(rebuilt.read(bookings).toArray(), ['flight', 'hotel']);
console.log('one trip is fully booked, the other not at all');
