import { append, defineSlice, type Json, type ListState, type Slice } from '@holdfast/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSession, type LogEntry, type LogRecord, memoryStore, replay } from '../index.ts';
import { createRedactor } from '../redact.ts';
import { withoutContent } from './content.ts';
import { ownFields } from './fields.ts';

const key = 'a key known only to the host';
const notes: Slice<ListState<Json>> = defineSlice<Json>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload) },
});

const call = { callId: 'c', parentId: 'p', run: 1, turn: 2, name: 'reset_password' };
const x = 'CONTENT';

describe('without content', () => {
  test.each<readonly [LogEntry, LogEntry]>([
    [
      {
        type: 'tool-call-end',
        ...call,
        rawArguments: x,
        input: { x },
        decisions: [{ policy: 'host/a', type: 'ask', reason: x }],
        approval: { type: 'approve', by: 'ann' },
        outcome: {
          kind: 'ok',
          callId: 'c',
          name: call.name,
          code: 'a.b',
          message: x,
          value: x,
          rendered: x,
          text: x,
          attempts: 2,
        },
        events: [{ type: 'noted', payload: x }],
        changes: [{ slice: 'policy:a', op: 'upsert', key: x, item: x }],
        writes: [{ resource: 'filesystem', key: x, change: 'created' }],
        error: { name: 'Error', message: x, code: 'model.rate_limited', data: x },
        retries: [{ code: 'a.c', message: x, atMs: 1 }],
        startedAtMs: 1,
        durationMs: 2,
        more: x,
      },
      {
        type: 'tool-call-end',
        ...call,
        rawArguments: null,
        input: null,
        decisions: [{ policy: 'host/a', type: 'ask' }],
        approval: { type: 'approve', by: 'ann' },
        outcome: {
          kind: 'ok',
          callId: 'c',
          name: call.name,
          code: 'a.b',
          message: '',
          value: null,
          rendered: '',
          text: '',
          attempts: 2,
        },
        events: [{ type: 'noted', payload: null }],
        changes: [{ slice: 'policy:a', op: 'upsert' }],
        writes: [{ resource: 'filesystem', key: '', change: 'created' }],
        error: { name: 'Error', message: '', code: 'model.rate_limited' },
        retries: [{ code: 'a.c', message: '', atMs: 1 }],
        startedAtMs: 1,
        durationMs: 2,
      },
    ],
    [
      { type: 'tool-call-start', ...call, repeat: 'never', input: { x }, rawArguments: x },
      { type: 'tool-call-start', ...call, repeat: 'never', input: null },
    ],
    [
      {
        type: 'tool-call-start',
        ...call,
        repeat: 'never',
        input: x,
        reserved: [{ slice: 'policy:a', op: 'upsert', key: x, item: x }],
      },
      {
        type: 'tool-call-start',
        ...call,
        repeat: 'never',
        input: null,
        reserved: [{ slice: 'policy:a', op: 'upsert' }],
      },
    ],
    [
      {
        type: 'model-message',
        run: 1,
        turn: 2,
        text: x,
        calls: [{ id: 'c', name: 'a', arguments: x }],
        reason: 'stop',
        usage: { inputTokens: 1, outputTokens: 2, x },
      },
      {
        type: 'model-message',
        run: 1,
        turn: 2,
        text: '',
        calls: [{ id: 'c', name: 'a', arguments: null }],
        reason: 'stop',
        usage: { inputTokens: 1, outputTokens: 2 },
      },
    ],
    [
      { type: 'run-start', run: 1, sessionId: 's', model: 'm', prompt: 'p', input: x, tools: ['a'], atMs: 3 },
      { type: 'run-start', run: 1, sessionId: 's', model: 'm', prompt: 'p', input: '', tools: ['a'], atMs: 3 },
    ],
    [
      {
        type: 'run-end',
        run: 1,
        status: 'completed',
        text: x,
        turns: 1,
        usage: { inputTokens: 1, outputTokens: 2 },
        atMs: 3,
      },
      {
        type: 'run-end',
        run: 1,
        status: 'completed',
        text: '',
        turns: 1,
        usage: { inputTokens: 1, outputTokens: 2 },
        atMs: 3,
      },
    ],
    [
      {
        type: 'approval-request',
        pending: {
          ...call,
          input: x,
          dangerous: true,
          asks: [{ policy: 'a', type: 'ask', reason: x }],
          digest: 'd',
          toolDigest: 't',
          expiresAtMs: 4,
        },
        rawArguments: x,
      },
      {
        type: 'approval-request',
        pending: {
          ...call,
          input: null,
          dangerous: true,
          asks: [{ policy: 'a', type: 'ask' }],
          digest: '',
          toolDigest: 't',
          expiresAtMs: 4,
        },
      },
    ],
    [
      { type: 'approval-answer', callId: 'c', digest: 'd', answer: { type: 'deny', reason: x }, by: 'ann' },
      { type: 'approval-answer', callId: 'c', digest: '', answer: { type: 'deny' }, by: 'ann' },
    ],
    [
      { type: 'call-resolution', callId: 'c', resolution: { type: 'done', value: x, message: x }, by: 'ann' },
      { type: 'call-resolution', callId: 'c', resolution: { type: 'done' }, by: 'ann' },
    ],
    [
      {
        type: 'child-record',
        callId: 'c',
        sessionId: 's',
        childSeq: 1,
        entry: { type: 'event', events: [{ type: 'noted', payload: x }] },
      },
      {
        type: 'child-record',
        callId: 'c',
        sessionId: 's',
        childSeq: 1,
        entry: { type: 'event', events: [{ type: 'noted', payload: null }] },
      },
    ],
    [
      {
        type: 'import',
        slices: [{ id: 'a', kind: 'value', retention: 'state', initial: x, events: ['noted'], state: x }],
      },
      { type: 'import', slices: [{ id: 'a', kind: 'value', retention: 'state', events: ['noted'] }] },
    ],
    [
      {
        type: 'snapshot',
        sessionId: 's',
        slices: [{ id: 'a', kind: 'list', retention: 'state', events: [], state: [x] }],
        open: {
          runs: [],
          calls: [
            {
              ...call,
              rawArguments: x,
              approvals: [],
              start: { atMs: 1, input: x, repeat: 'safe', interrupted: true },
            },
          ],
        },
      },
      {
        type: 'snapshot',
        content: 'none',
        sessionId: 's',
        slices: [{ id: 'a', kind: 'list', retention: 'state', events: [] }],
        open: {
          runs: [],
          calls: [{ ...call, approvals: [], start: { atMs: 1, input: null, repeat: 'safe', interrupted: true } }],
        },
      },
    ],
    [
      {
        type: 'plan-start',
        sessionId: 's',
        plan: 3,
        document: {
          version: 1,
          status: 'success',
          nodes: [
            {
              id: 'news',
              tool: 'search_news',
              function: 'runSearch',
              inputs: { query: x, [x]: 1 },
              depends_on: [0],
              retry: 1,
              timeout: 60,
              on_fail: 'halt',
              metadata: { purpose: x },
            },
          ],
          final_output_node: 'news',
        },
        digest: 'd',
        request: x,
        atMs: 4,
      },
      {
        type: 'plan-start',
        sessionId: 's',
        plan: 3,
        document: {
          version: 1,
          status: 'success',
          nodes: [
            {
              id: 'news',
              tool: 'search_news',
              function: 'runSearch',
              inputs: {},
              depends_on: [0],
              retry: 1,
              timeout: 60,
              on_fail: 'halt',
              metadata: {},
            },
          ],
          final_output_node: 'news',
        },
        digest: '',
        request: '',
        atMs: 4,
      },
    ],
    [
      { type: 'plan-node', plan: 3, node: 1, kind: 'skipped', code: 'plan.halted', message: x, because: [0], atMs: 5 },
      { type: 'plan-node', plan: 3, node: 1, kind: 'skipped', code: 'plan.halted', message: '', because: [0], atMs: 5 },
    ],
    [
      { type: 'plan-resume', plan: 3, atMs: 6, more: x },
      { type: 'plan-resume', plan: 3, atMs: 6 },
    ],
    [
      { type: 'plan-end', plan: 3, status: 'failed', atMs: 7, more: x },
      { type: 'plan-end', plan: 3, status: 'failed', atMs: 7 },
    ],
    [
      { type: 'resource-discard-failed', callId: 'c', message: x },
      { type: 'resource-discard-failed', callId: 'c', message: '' },
    ],
    [{ type: 'of-the-host', callId: x, name: x }, { type: 'of-the-host' }],
    // Where a model chose a name, and a tool a code.
    [
      {
        type: 'tool-call-end',
        name: 'Dear diary, CONTENT',
        outcome: { kind: 'unknown-tool', code: 'so much CONTENT' },
      },
      { type: 'tool-call-end', outcome: { kind: 'unknown-tool' } },
    ],
  ])('record %# keeps only the fields that Holdfast itself needs', (entry, kept) => {
    const left = withoutContent(entry, undefined);
    expect(left).toEqual(kept);
    expect(JSON.stringify(left)).not.toContain(x);
  });

  test('nothing remains of unlisted record types', () => {
    const left = [...ownFields].flatMap(([type, own]) => {
      const fields = [...Object.keys(own), 'other', 'message', 'text'];
      const entry = Object.fromEntries(fields.map((field) => [field, { other: x }]));
      return Object.entries(withoutContent({ ...entry, type }, undefined)).filter(
        // An object in a kept field was written by Holdfast itself.
        ([field, value]) => JSON.stringify(value).includes(x) && own[field] !== true,
      );
    });
    expect(left).toEqual([]);
  });

  test('the digest of a question is kept only if it was made from masks', () => {
    const answer = { type: 'approval-answer', callId: 'c', digest: 'd' };
    expect(withoutContent(answer, createRedactor({ key }))).toEqual(answer);
    expect(withoutContent(answer, undefined)).toEqual({ ...answer, digest: '' });
  });

  test('with a redactor arguments and values leave a keyed digest', () => {
    const redactor = createRedactor({ key });
    const entry = { type: 'tool-call-end', input: { a: 1, b: 2 }, outcome: { kind: 'ok', value: { c: 1 } } };
    const other = { type: 'tool-call-end', input: { b: 2, a: 1 }, outcome: { kind: 'ok', value: { c: 2 } } };
    const one = withoutContent(entry, redactor);
    expect(one).toEqual({
      type: 'tool-call-end',
      input: null,
      outcome: { kind: 'ok', value: null },
      inputDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      valueDigest: expect.any(String),
    });
    expect(withoutContent(other, redactor)['inputDigest']).toBe(one['inputDigest']);
    expect(withoutContent(other, redactor)['valueDigest']).not.toBe(one['valueDigest']);
    expect(withoutContent(entry, createRedactor({ key: `${key}!` }))['inputDigest']).not.toBe(one['inputDigest']);
    expect(
      withoutContent({ type: 'tool-call-end', outcome: { kind: 'failed', value: 1 } }, redactor),
    ).not.toHaveProperty('valueDigest');
    expect(withoutContent({ type: 'mine', input: 1 }, redactor)).toEqual({ type: 'mine' });
  });

  test('a session works as usual, and its log states that it has no content', () => {
    const store = memoryStore();
    const told: LogRecord[] = [];
    const session = createSession({ slices: [notes], store, content: 'none' });
    session.subscribe((record) => told.push(record));
    session.dispatch({ type: 'noted', payload: x });
    session.fork().dispatch({ type: 'noted', payload: x });
    session.import(session.export());
    expect(session.read(notes).toArray()).toEqual([x]);
    expect(session.content).toBe('none');
    expect(session.fork().content).toBe('none');
    expect(JSON.stringify([store.records, told])).not.toContain(x);
    expect(store.records[0]).toMatchObject({ type: 'session-start', content: 'none' });
    expect(() => replay(store.records, { slices: [notes] })).toThrow(
      expect.objectContaining({ code: 'replay.failed', reason: 'no_content' }),
    );
  });

  test('an answer to another question is rejected', () => {
    const content = 'None' as 'none';
    expect(() => createSession({ content })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
    expect(createSession({ content: 'full' }).content).toBe('full');
    expect(createSession().content).toBe('full');
  });
});

test('a replayed session has the original state, whatever was secret and since when', () => {
  const alphabet = ['ab', 'cd', 'password', 'token=', '"', ' ', '{"secret":"', '4711'];
  const text = fc.array(fc.constantFrom(...alphabet), { maxLength: 4 }).map((parts) => parts.join(''));
  const payload = fc.oneof(text, fc.dictionary(text, text, { maxKeys: 3 }), fc.array(text, { maxLength: 3 }));
  const step = fc.oneof(
    fc.record({ type: fc.constant('learn' as const), secret: text }),
    fc.record({ type: fc.constant('stage' as const), payload, nested: fc.boolean() }),
    fc.record({ type: fc.constantFrom('commit' as const, 'discard' as const, 'reset' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const store = memoryStore();
      const redactor = createRedactor({ key });
      const session = createSession({ slices: [notes], store, redactor });
      let transaction = session.begin();
      const commit = (staged: typeof transaction): void => {
        const events = staged.events.map((event) => ({ ...event }));
        staged.commit({ type: 'tool-call-end', callId: 'c', outcome: { kind: 'ok' }, events });
      };
      for (const next of steps) {
        if (next.type === 'learn') redactor.learn(next.secret);
        else if (next.type === 'reset') session.reset();
        else if (next.type === 'stage') {
          const staged = next.nested ? transaction.begin() : transaction;
          staged.dispatch({ type: 'noted', payload: next.payload });
          if (next.nested) commit(staged);
        } else {
          if (next.type === 'commit') commit(transaction);
          transaction.discard();
          transaction = session.begin();
        }
      }
      expect(
        replay(store.records, { slices: [notes] })
          .read(notes)
          .toArray(),
      ).toEqual(session.read(notes).toArray());
    }),
    { numRuns: 300 },
  );
});
