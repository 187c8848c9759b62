import { type ToolContext, toolError, toolOk } from '@holdfast/core';
import { expect, test } from 'vitest';
import type { ToolMetadata } from '../check/types.ts';
import { readMetadata } from '../scan/metadata.ts';
import { toFileTool } from './file-tool.ts';

// These tests use no context.
const context = {} as ToolContext;

async function metadataOf(extra: string): Promise<ToolMetadata> {
  const source = `export const METADATA = {
  name: 'subject', function: 'work', description: 'Works.', dangerous: false,
  parameters: { type: 'object', properties: { path: { type: 'string' }, count: { type: 'integer' } } }, ${extra}
};
export function work(input) {}`;
  const reading = await readMetadata(source, 'subject.mjs');
  if (reading.type === 'refused') throw new Error(JSON.stringify(reading.diagnostics));
  return reading.metadata;
}

const file = { file: 'inner/subject.mjs', digest: 'ab12' };

test('a tool has the metadata and origin of its file', async () => {
  const tool = toFileTool({ ...file, metadata: await metadataOf('timeoutMs: 5') }, async (input) => input);
  expect(tool).toMatchObject({
    name: 'subject',
    timeoutMs: 5,
    effects: 'none',
    origin: { kind: 'file', source: 'inner/subject.mjs', digest: 'ab12' },
  });
  expect(tool.locks).toBeUndefined();
  expect(await tool.execute({ path: 'a' }, context)).toEqual({ path: 'a' });
});

test('a tool has the retry of its file', async () => {
  const tool = toFileTool({ ...file, metadata: await metadataOf('retry: { attempts: 2 }') }, async () => null);
  expect(tool.retry).toEqual({ attempts: 2, delayMs: 1_000 });
  expect(toFileTool({ ...file, metadata: await metadataOf('') }, async () => null).retry).toBeUndefined();
});

test.each([
  { input: { path: 'a.txt', count: 2 }, locks: ['calendar', 'a.txt', '2'] },
  // Without a name a call runs alone.
  { input: { path: 'a.txt' }, locks: [] },
  { input: {}, locks: [] },
  { input: null, locks: [] },
])('resources become the locks of a call with $input: $locks', async ({ input, locks }) => {
  const metadata = await metadataOf("resources: ['calendar', '$input.path', '$input.count']");
  const tool = toFileTool({ ...file, metadata }, async () => null);
  expect(tool.locks?.(input)).toEqual(locks);
});

const circle: Record<string, unknown> = {};
circle['self'] = circle;

test.each([
  { what: 'as large as allowed', result: '123456', fits: true },
  { what: 'one byte larger', result: '1234567', fits: false },
  { what: 'larger in UTF-8 only', result: 'ééé1', fits: false },
  { what: 'a success', result: toolOk('1'), fits: true },
  { what: 'a success with a long message', result: toolOk('1', 'a message'), fits: false },
  { what: 'a failure with a long value', result: toolError('', { value: '12345678' }), fits: false },
  { what: 'nothing', result: undefined, fits: true },
  { what: 'no JSON', result: circle, fits: true },
])('a result of at most 8 bytes: $what', async ({ result, fits }) => {
  const tool = toFileTool({ ...file, metadata: await metadataOf('maxResultBytes: 8') }, async () => result);
  const answer = Promise.resolve(tool.execute({}, context));
  if (fits) expect(await answer).toBe(result);
  else await expect(answer).rejects.toMatchObject({ code: 'tool.result.too_large', data: { maxResultBytes: 8 } });
});
