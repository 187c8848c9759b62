import type { Json, SessionEvent } from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';

/** A record of about 300 bytes, as a line of a log: what a model said in a turn. */
export function smallEntry(index: number): LogEntry {
  return {
    type: 'model-message',
    run: 4,
    turn: index,
    text: 'The tests pass now. I will commit the change, then look at the rest.',
    calls: [],
    reason: 'stop',
    usage: { inputTokens: 18_211, outputTokens: 34 },
  };
}

export function fileRead(index: number): SessionEvent {
  return { type: 'file-read', payload: { path: `src/parts/part-${index % 1_000}.ts`, version: 'b4e1c9' } };
}

/** A record of about 1,500 bytes: a call that read a part of a file, asked of three policies, with one event and two changes of state. */
export function callEntry(index: number): LogEntry {
  const input = { path: `src/parts/part-${index % 1_000}.ts`, fromLine: 40, lines: 8 };
  const value = { path: input.path, text: lines, totalLines: 212 };
  return {
    type: 'tool-call-end',
    run: 4,
    turn: index,
    callId: `call_${index}`,
    name: 'read_file',
    rawArguments: JSON.stringify(input),
    input,
    decisions: ['host/path-scope', 'host/call-budget', 'files/read-before-write'].map((policy) => ({
      policy,
      type: 'allow',
    })),
    outcome: {
      kind: 'ok',
      callId: `call_${index}`,
      name: 'read_file',
      message: 'Read 8 of 212 lines.',
      value,
      rendered: JSON.stringify(value),
    },
    events: [{ ...fileRead(index) } as Json],
    startedAtMs: 1_795_323_214_208,
    durationMs: 3,
  };
}

const lines = [
  'export function toSpread(samples: readonly number[]): Spread {',
  '  const sorted = samples.toSorted((a, b) => a - b);',
  '  const middle = sorted.slice(lower(sorted.length), upper(sorted.length));',
  '  return {',
  '    median: middle.reduce((sum, sample) => sum + sample, 0) / middle.length,',
  '  };',
  '}',
].join('\n');
