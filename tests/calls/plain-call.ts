// Prints the files of our packages that one plain call runs through, warm, as JSON. In a process of its own, on the sources.
import { Session } from 'node:inspector/promises';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  effects: 'none',
  inputSchema: v.object({ at: v.string() }),
  execute: async ({ at }) => ({ at }),
});
const options = { tools: [look], session: createSession() };

async function call(): Promise<void> {
  const { kind } = await executeToolCall({ name: 'look', arguments: '{"at":"x"}' }, options);
  if (kind !== 'ok') throw new Error(`The call ended as \`${kind}\`.`);
}

for (let count = 0; count < 3; count += 1) await call();
const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await call();
const { result } = await inspector.post('Profiler.takePreciseCoverage');
const files = result.flatMap(({ url, functions }) => {
  const [, file] = /\/packages\/([a-z-]+\/src\/.*)$/.exec(url) ?? [];
  // The module itself, which has no name, counts as run once it is loaded.
  const ran = functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0);
  return file !== undefined && ran ? [file] : [];
});
console.log(JSON.stringify(files.toSorted()));
