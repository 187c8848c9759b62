import { expect, test } from 'vitest';
import { callEnd } from '../testing/test-events.ts';
import { readUse, remainingTerms } from './use.ts';

const toRecord = (entry: object, seq: number) => ({
  seq,
  atMs: 0,
  type: 'other',
  ...JSON.parse(JSON.stringify(entry)),
});
const inChild = (entry: object) => ({ type: 'child-record', callId: 'c1', sessionId: 's', childSeq: 0, entry });
const message = (inputTokens: number, run = 1) => ({
  type: 'model-message',
  run,
  usage: { inputTokens, outputTokens: 10 },
});

test('counts started calls, including nested ones, and the tokens of every message', () => {
  const entries = [
    message(100),
    { type: 'model-message', run: 1 },
    message(-500),
    message(1000, 7),
    callEnd('ok'),
    callEnd('failed', { parentId: 'c1' }),
    callEnd('in-doubt'),
    callEnd('timed-out', { code: 'call.timeout' }),
    callEnd('cancelled', { code: 'call.not_done' }),
    callEnd('invalid', { code: 'output.invalid' }),
    inChild(callEnd('ok')),
    inChild(inChild(message(5))),
    callEnd('invalid', { code: 'arguments.invalid' }),
    callEnd('cancelled', { code: 'call.interrupted' }),
    callEnd('denied'),
    callEnd('unknown-tool'),
    callEnd('truncated'),
  ];
  expect(readUse(entries.map(toRecord), 1)).toEqual({ calls: 7, tokens: 125 });
});

test('remaining limits: usage.invalid: limit_used if nothing is left', () => {
  const terms = { directory: '/', model: 'm', tools: null, approval: 'ask', allow: [], order: [] } as const;
  expect(remainingTerms({ ...terms, maxCalls: 3 }, { calls: 2, tokens: 9 })).toMatchObject({ maxCalls: 1 });
  expect(remainingTerms(terms, { calls: 2, tokens: 9 })).toEqual({
    ...terms,
    maxCalls: undefined,
    maxTokens: undefined,
  });
  for (const limits of [{ maxCalls: 2 }, { maxTokens: 8 }]) {
    expect(() => remainingTerms({ ...terms, ...limits }, { calls: 2, tokens: 9 })).toThrow(
      expect.objectContaining({ code: 'usage.invalid', reason: 'limit_used' }),
    );
  }
});
