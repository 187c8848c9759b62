import { definePolicy, defineTool, type Json, type Outcome, type Tool, toolError } from '@holdfast/core';
import type { EffectCheck } from '@holdfast/core/types';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type CallOptions,
  createBudget,
  executeToolCall,
  recoverSession,
  resolveCall,
  resumeToolCall,
} from '../index.ts';

import { dieUnder, life, mail, type Probe, sending, type World } from '../test-resume.ts';

describe('a call whose process ended under it', () => {
  test.each(['safe', 'keyed'] as const)('%s: runs again with the same key', async (repeat) => {
    const world: World = { effects: [], keys: [] };
    const { options } = await dieUnder((at) => sending(at, { repeat }), world);
    expect(await recoverSession(options)).toMatchObject({ outcomes: [], repeatable: [{ callId: 'm' }] });
    expect(world.effects).toEqual([]);
    expect(await resumeToolCall('m', options)).toMatchObject({ kind: 'ok' });
    expect(world.effects).toEqual(['ada']);
    expect(new Set(world.keys).size).toBe(1);
  });

  test('settled twice at once it ends once', async () => {
    const world: World = { effects: [], keys: [] };
    let probes = 0;
    const probe: Probe = async () => {
      probes += 1;
      return { type: 'done' };
    };
    const { options, store } = await dieUnder((at) => sending(at, { probe }), world);
    const both = await Promise.allSettled([
      recoverSession(options),
      resumeToolCall('m', options),
      recoverSession(options),
    ]);
    // The first one wins; the others find it running.
    const ended = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const outcomes = ended.flatMap((each) => ('outcomes' in each ? each.outcomes : [each as Outcome]));
    expect(outcomes).toMatchObject([{ kind: 'ok' }]);
    expect(store.records.filter(({ type }) => type === 'tool-call-end')).toHaveLength(1);
    expect(probes).toBe(1);
  });

  test('a tool that may not be repeated by now is not', async () => {
    const world: World = { effects: [], keys: [] };
    const { options } = await dieUnder((at) => sending(at, { repeat: 'keyed' }), world);
    const outcome = await resumeToolCall('m', { ...options, tools: [sending(world, { repeat: 'never' })] });
    expect(outcome).toMatchObject({ kind: 'in-doubt', code: 'call.interrupted' });
    expect(world.effects).toEqual([]);
  });

  test.each([
    { what: 'throws', execute: () => Promise.reject(new Error('connect ECONNREFUSED')), code: 'tool.threw' },
    { what: 'fails', execute: () => toolError('no connection'), code: 'tool.failed' },
    {
      what: 'answers with a value that is not JSON',
      execute: () => 1n as never,
      code: 'output.invalid',
      reason: 'not_json',
    },
  ])('what $what when it is run again is in doubt', async ({ execute, code }) => {
    const world: World = { effects: [], keys: [] };
    const { options } = await dieUnder((at) => sending(at, { repeat: 'keyed' }), world);
    const inputSchema = v.object({ to: v.string() });
    const failing = defineTool({ name: 'send', description: 'Sends.', repeat: 'keyed', inputSchema, execute }) as Tool;
    expect(await resumeToolCall('m', { ...options, tools: [failing] })).toMatchObject({ kind: 'in-doubt', code });
  });

  test('never: in doubt, told once, never repeated', async () => {
    const world: World = { effects: [], keys: [] };
    const { options, store, reopen } = await dieUnder((at) => sending(at), world);
    const { outcomes } = await recoverSession(options);
    expect(outcomes).toMatchObject([{ kind: 'in-doubt', code: 'call.interrupted', callId: 'm' }]);
    expect(store.records.filter(({ type }) => type === 'tool-call-end')).toHaveLength(1);
    expect(await recoverSession({ ...options, session: reopen() })).toMatchObject({ outcomes: [] });
    await expect(resumeToolCall('m', options)).rejects.toMatchObject({ code: 'work.not_open', reason: 'call' });
    expect(world.effects).toEqual([]);
  });

  const probes: { what: string; probe: () => EffectCheck | Promise<EffectCheck>; kind: string; code?: string }[] = [
    { what: 'done', probe: () => ({ type: 'done', value: { sent: 'ada' } }), kind: 'ok' },
    { what: 'not done', probe: async () => ({ type: 'not-done' }), kind: 'cancelled', code: 'call.not_done' },
    { what: 'unknown', probe: () => ({ type: 'unknown' }), kind: 'in-doubt', code: 'call.interrupted' },
    { what: 'a value that is not JSON', probe: () => ({ type: 'done', value: 1n as never }), kind: 'in-doubt' },
    { what: 'nonsense', probe: () => 'yes' as never, kind: 'in-doubt', code: 'call.interrupted' },
    {
      what: 'thrown',
      probe: () => {
        throw new Error('down');
      },
      kind: 'in-doubt',
      code: 'call.interrupted',
    },
  ];
  test.each(probes)('its probe says $what: $kind', async ({ probe, kind, code }) => {
    const world: World = { effects: [], keys: [] };
    const { options } = await dieUnder((at) => sending(at, { probe }), world);
    expect((await recoverSession(options)).outcomes).toMatchObject([{ kind, ...(code === undefined ? {} : { code }) }]);
    expect(world.effects).toEqual([]);
  });

  test.each([
    { what: 'after 30 s', timeoutMs: undefined, runMs: undefined, advanceMs: 30_000 },
    { what: 'after the time of its tool', timeoutMs: 500, runMs: undefined, advanceMs: 500 },
    { what: 'when the time of all is over', timeoutMs: undefined, runMs: 200, advanceMs: 200 },
  ])('a probe that does not answer is given up $what', async ({ timeoutMs, runMs, advanceMs }) => {
    const world: World = { effects: [], keys: [] };
    let signal: AbortSignal | undefined;
    const probe: Probe = (_input, context) => {
      ({ signal } = context);
      return new Promise(() => undefined);
    };
    const extra = { probe, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const { options, clock } = await dieUnder((at) => sending(at, extra), world);
    const recovering = recoverSession({ ...options, ...(runMs === undefined ? {} : { timeoutMs: runMs }) });
    await new Promise((resolve) => setImmediate(resolve));
    expect(signal?.aborted).toBe(false);
    clock.advance(advanceMs);
    expect((await recovering).outcomes).toMatchObject([{ kind: 'in-doubt' }]);
    expect(signal?.aborted).toBe(true);
  });

  test('a probe is asked with the key of the call', async () => {
    const world: World = { effects: [], keys: [] };
    const probe: Probe = (input, { idempotencyKey, callId }) =>
      idempotencyKey === world.keys[0] && callId === 'm'
        ? { type: 'done', value: input as Json }
        : { type: 'not-done' };
    const { options } = await dieUnder((at) => sending(at, { probe }), world);
    expect((await recoverSession(options)).outcomes).toMatchObject([{ kind: 'ok', value: { to: 'ada' } }]);
  });

  describe('that could be repeated, and is not', () => {
    const spent = createBudget({ maxCalls: 1 });
    const look = defineTool({ name: 'look', description: 'Looks.', effects: 'none', execute: () => 1 });
    beforeAll(async () => {
      const session = createSession({ id: 'spending' });
      await executeToolCall({ name: 'look', arguments: '' }, { tools: [look], session, budget: spent });
    });
    const refusals: { what: string; change: Partial<CallOptions>; code: string }[] = [
      {
        what: 'a policy denies',
        change: { policies: [definePolicy({ name: 'p', check: () => ({ type: 'deny', reason: 'not now' }) })] },
        code: 'policy.denied',
      },
      { what: 'its tool is gone', change: { tools: [] }, code: 'tool.unknown' },
      {
        what: 'its tool refuses the arguments',
        change: { tools: [defineTool({ name: 'send', description: 'Sends.', execute: () => 1 })] },
        code: 'arguments.invalid',
      },
      { what: 'the run is over', change: { signal: AbortSignal.abort() }, code: 'call.aborted' },
      { what: 'no call is left', change: { budget: spent }, code: 'budget.used' },
    ];
    test.each(refusals)('$what: in doubt, $code', async ({ change, code }) => {
      const world: World = { effects: [], keys: [] };
      const { options } = await dieUnder((at) => sending(at, { repeat: 'keyed' }), world);
      const outcome = await resumeToolCall('m', { ...options, ...change });
      expect(outcome).toMatchObject({ kind: 'in-doubt', code, text: expect.stringContaining('not run again') });
      expect(world.effects).toEqual([]);
    });

    test('one that is safe to repeat has done nothing to be in doubt about', async () => {
      const { options } = await dieUnder((at) => sending(at, { repeat: 'safe' }), { effects: [], keys: [] });
      expect(await resumeToolCall('m', { ...options, tools: [] })).toMatchObject({ kind: 'unknown-tool' });
    });

    test('an answer that was used does not expire', async () => {
      const world: World = { effects: [], keys: [] };
      const { options, clock } = await dieUnder((at) => sending(at, { repeat: 'keyed', dangerous: true }), world);
      clock.advance(86_400_000);
      expect(await resumeToolCall('m', options)).toMatchObject({ kind: 'ok' });
      expect(world.effects).toEqual(['ada']);
    });
  });

  test.each([
    { resolution: { type: 'done', value: { sent: 'ada' } } as const, kind: 'ok' },
    { resolution: { type: 'not-done', message: 'It is not in the outbox.' } as const, kind: 'cancelled' },
  ])('a person says $resolution.type: $kind', async ({ resolution, kind }) => {
    const world: World = { effects: [], keys: [] };
    const { options, store, reopen } = await dieUnder((at) => sending(at), world);
    await resolveCall(options.session, 'm', resolution, { by: 'ada' });
    const { outcomes } = await recoverSession({ ...options, session: reopen() });
    expect(outcomes).toMatchObject([{ kind }]);
    expect(store.records).toContainEqual(expect.objectContaining({ type: 'call-resolution', by: 'ada' }));
    expect(world.effects).toEqual([]);
  });

  test('nobody can say what became of it while it is under way', async () => {
    const { clock, session } = life();
    const waiting = defineTool({
      name: 'send',
      description: 'Waits.',
      execute: () => new Promise<never>(() => undefined),
    });
    void executeToolCall({ ...mail, arguments: {} }, { tools: [waiting], session, clock });
    await expect(resolveCall(session, 'm', { type: 'not-done' })).rejects.toMatchObject({
      code: 'work.under_way',
      reason: 'call',
    });
  });

  test('what took effect is not repeated, though it could be', async () => {
    const world: World = { effects: [], keys: [] };
    const { options, store } = await dieUnder((at) => sending(at, { repeat: 'keyed' }), world);
    await resolveCall(options.session, 'm', { type: 'done', value: { sent: 'ada' }, message: 'It is in the outbox.' });
    expect(await resumeToolCall('m', options)).toMatchObject({ kind: 'ok', message: 'It is in the outbox.' });
    expect(world.effects).toEqual([]);
    expect(store.records.at(-1)).toMatchObject({ type: 'tool-call-end', input: { to: 'ada' }, startedAtMs: 0 });
  });

  test('its end says what it was called with, also when its tool is gone', async () => {
    const world: World = { effects: [], keys: [] };
    const { options, store, clock } = await dieUnder((at) => sending(at), world);
    clock.advance(500);
    await resolveCall(options.session, 'm', { type: 'done' });
    const { outcomes } = await recoverSession({ ...options, tools: [] });
    expect(outcomes).toMatchObject([{ kind: 'in-doubt', text: expect.stringContaining('took effect') }]);
    expect(store.records.at(-1)).toMatchObject({ input: { to: 'ada' }, startedAtMs: 0, durationMs: 500 });
  });

  test('what a person says of a call that has ended in doubt is recorded', async () => {
    const world: World = { effects: [], keys: [] };
    const { options, store } = await dieUnder((at) => sending(at), world);
    await recoverSession(options);
    await resolveCall(options.session, 'm', { type: 'done' });
    expect(store.records.at(-1)).toMatchObject({ type: 'call-resolution', callId: 'm', resolution: { type: 'done' } });
    await expect(resolveCall(options.session, 'x', { type: 'done' })).rejects.toMatchObject({
      code: 'work.not_open',
      reason: 'call',
    });
    await expect(resolveCall(options.session, 'm', { type: 'unknown' } as never)).rejects.toMatchObject({
      code: 'options.invalid',
    });
  });

  test('a nested call that must not be repeated keeps the one around it from being repeated', async () => {
    const world: World = { effects: [], keys: [] };
    const { clock, session, reopen } = life();
    const outer = defineTool({
      name: 'outer',
      description: 'Sends, and goes on for ever.',
      repeat: 'keyed',
      async execute(_input, { call }) {
        await call('send', { to: 'ada' });
        return new Promise<string>(() => undefined);
      },
    });
    const tools = [outer, sending(world)];
    void executeToolCall({ id: 'o', name: 'outer', arguments: '' }, { tools, session, clock });
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.effects).toEqual(['ada']);
    const { outcomes } = await recoverSession({ tools, session: reopen(), clock });
    expect(outcomes).toMatchObject([{ callId: 'o', kind: 'in-doubt' }]);
    expect(world.effects).toEqual(['ada']);
  });

  test('one that is under way here is left alone', async () => {
    const { clock, session } = life();
    const waiting = defineTool({
      name: 'send',
      description: 'Waits.',
      execute: () => new Promise<string>(() => undefined),
    });
    void executeToolCall({ ...mail, arguments: {} }, { tools: [waiting], session, clock });
    expect(await recoverSession({ tools: [waiting], session, clock })).toMatchObject({ outcomes: [], repeatable: [] });
    await expect(resumeToolCall('m', { tools: [waiting], session, clock })).rejects.toMatchObject({
      code: 'work.under_way',
      reason: 'call',
    });
  });
});
