// A run is killed during its approved deploy. After a restart the log is enough to finish it, deployed once.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, toolOk } from '@holdfast/core';
import { resumeRun, runAgent } from '@holdfast/executor';
import { createPrompt, section } from '@holdfast/prompt';
import { openSession } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const [role = 'main', folder = mkdtempSync(join(tmpdir(), 'holdfast-'))] = process.argv.slice(2);
const log = join(folder, 'session.jsonl');

/** The outside world: deploys once per key. Returns true for the first request. */
function ship(key: string, version: string): boolean {
  const path = join(folder, `${encodeURIComponent(key)}.deployed`);
  const first = !existsSync(path);
  if (first) writeFileSync(path, version);
  return first;
}

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploy a version.',
  inputSchema: v.object({ version: v.string() }),
  effects: 'external',
  repeat: 'keyed',
  dangerous: true,
  async execute({ version }, { idempotencyKey }) {
    const first = ship(idempotencyKey, version);
    process.send?.('under way');
    // Never resolves: the process is killed here.
    if (role === 'worker') await once(process, 'message');
    return toolOk({ version, first }, `Version ${version} is deployed.`);
  },
});
const release = { title: 'Release', template: 'Deploy the requested version.', tools: [deploy] };
const prompt = createPrompt({ key: 'deploy', sections: [section(release)] });

if (role === 'worker') {
  const model = scriptedModel([{ calls: [{ name: 'deploy', arguments: { version: '1.2.0' } }] }]);
  const session = await openSession(jsonlStore(log));
  const approve = () => ({ type: 'approve' }) as const;
  await runAgent({ model, prompt, session, approve, input: 'Deploy 1.2.0 and tell me.' }).result;
  throw new Error('The worker was not killed.');
}

const worker = fork(import.meta.filename, ['worker', folder]);
const ended = once(worker, 'exit');
await once(worker, 'message');
worker.kill('SIGKILL');
assert.deepEqual(await ended, [null, 'SIGKILL']);

// The log holds the work of the other process; its lock is taken over.
const session = await openSession(jsonlStore(log));
const { runs, calls } = session.openWork();
assert.equal(runs.length, 1);
assert.deepEqual(
  calls.map(({ name, start }) => [name, start?.repeat, start?.interrupted]),
  [['deploy', 'keyed', true]],
);

// The approval still holds, and the deploy runs again with the same key.
const model = scriptedModel([{ text: 'Version 1.2.0 is out.' }]);
const { status, text, outcomes } = await resumeRun({ model, prompt, session }).result;
await session.close();
assert.deepEqual([status, text], ['completed', 'Version 1.2.0 is out.']);
assert.deepEqual(outcomes[0]?.value, { version: '1.2.0', first: false });
assert.equal(model.requests[0]?.messages.at(-1)?.role, 'tool');
rmSync(folder, { recursive: true });
console.log('killed during a deploy and resumed after a restart: deployed once, and the model received the result');
