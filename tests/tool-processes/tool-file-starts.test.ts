import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome, RunEvent } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { type Isolation, type LoadedTools, loadTools } from '@holdfast/loader';
import { findPython, python as pythonFiles } from '@holdfast/loader-python';
import { createSession, memoryStore } from '@holdfast/session';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder = '';
let loaded: LoadedTools | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-starts-'));
});
afterEach(async () => {
  await loaded?.close();
  await rm(folder, { recursive: true, force: true });
});

const more = '"effects": "external", "parameters": {"type": "object", "properties": {}}';
const files = {
  'refund.mjs': `export const METADATA = { "name": "refund", "function": "refund", "description": "Refunds.", "dangerous": false, ${more} };
export const refund = () => 'done';
`,
  'refund.py': `METADATA = {"name": "refund", "function": "refund", "description": "Refunds.", "dangerous": False, ${more}}
def refund():
    return "done"
`,
  'refund.tool.json': `{"name": "refund", "description": "Refunds.", "dangerous": false, "command": ["./refund.sh"], ${more}}`,
  'refund.sh': '#!/bin/sh\nprintf \'"done"\'\n',
};
type File = keyof typeof files;
const python = await findPython();

async function load(file: File, isolation: Isolation): Promise<void> {
  await writeFile(join(folder, file), files[file]);
  if (file === 'refund.tool.json') await writeFile(join(folder, 'refund.sh'), files['refund.sh'], { mode: 0o755 });
  loaded = await loadTools(folder, { isolation, languages: [pythonFiles()] });
  expect(loaded.diagnostics).toEqual([]);
}

interface Ended {
  readonly outcome: Outcome;
  readonly types: readonly string[];
  readonly abandoned: boolean | undefined;
}

/** Calls the tool, and notes what the log has of it. */
async function refund(signal: AbortSignal = new AbortController().signal): Promise<Ended> {
  const store = memoryStore();
  const events: RunEvent[] = [];
  const { tools = [] } = loaded ?? {};
  const outcome = (await executeToolCall(
    { id: 'c', name: 'refund', arguments: {} },
    { tools, session: createSession({ store }), signal, onEvent: (event) => void events.push(event) },
  )) as Outcome;
  const end = events.find((event) => event.type === 'tool-call-end');
  const types = store.records.map(({ type }) => type).filter((type) => type.startsWith('tool-call-'));
  return { outcome, types, abandoned: end?.abandoned };
}

const rows: readonly (readonly [File, Isolation])[] = [
  ['refund.mjs', 'in-process'],
  ['refund.mjs', 'worker'],
  ['refund.mjs', 'subprocess'],
  ['refund.py', 'subprocess'],
  ['refund.tool.json', 'subprocess'],
];

test.for(rows)('%s, %s: nothing is in doubt that had not begun', async ([file, isolation], { skip }) => {
  if (file === 'refund.py' && !python.available) skip('There is no Python here.');
  await load(file, isolation);

  const controller = new AbortController();
  const stopped = refund(controller.signal);
  // No process, thread or import can be there yet.
  controller.abort();
  expect(await stopped).toMatchObject({
    outcome: { kind: 'cancelled', code: 'call.aborted' },
    types: ['tool-call-end'],
    abandoned: undefined,
  });

  expect(await refund()).toMatchObject({
    outcome: { kind: 'ok', value: 'done' },
    types: ['tool-call-start', 'tool-call-end'],
  });
});

test.for(rows)('%s, %s: a file that has changed begins no call', async ([file, isolation], { skip }) => {
  if (file === 'refund.py' && !python.available) skip('There is no Python here.');
  await load(file, isolation);
  await writeFile(join(folder, file === 'refund.tool.json' ? 'refund.sh' : file), '// Something else.');
  expect(await refund()).toMatchObject({
    outcome: { kind: 'failed', code: 'tool.file.changed' },
    types: ['tool-call-end'],
  });
});
