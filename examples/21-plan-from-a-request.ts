// A request becomes a plan without a model: checked as a whole, run with a folder of tools, killed, resumed, and reported.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { offlinePlanner } from '@holdfast/adapter-offline';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { loadTools } from '@holdfast/loader';
import { compilePlan, readTrace, resumePlan, runPlan, synthesise } from '@holdfast/orchestrator';
import { openSession } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';

const [role = 'main', folder = mkdtempSync(join(tmpdir(), 'holdfast-')), origin = ''] = process.argv.slice(2);
const log = join(folder, '.holdfast', 'plan.jsonl');
const { tools, close } = await loadTools(join(import.meta.dirname, 'plan-tools'));
const resources = { filesystem: hostFilesystem(folder) };

if (role === 'worker') {
  const request = `Fetch ${origin}/report.txt and read notes.txt, count the words of both, then write the comparison to summary.md`;
  const plan = await compilePlan({ request, tools, planner: offlinePlanner() });
  const run = runPlan(plan, { tools, session: await openSession(jsonlStore(log)), resources });
  for await (const event of run) {
    if (event.type === 'node-end') process.send?.([event.node.tool, event.node.kind]);
  }
  throw new Error('The worker was not killed.');
}

writeFileSync(join(folder, 'notes.txt'), 'Sales grew. A surprise to all.');
// The first request for the report is never answered.
let asked = 0;
const server = createServer((_, response) => {
  asked += 1;
  if (asked > 1) response.end('Sales grew by a fifth, in a year in which no one had expected growth.');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
assert(typeof address === 'object' && address !== null);

// The other process is killed after counting the notes, while the report is still loading.
const worker = fork(import.meta.filename, ['worker', folder, `http://127.0.0.1:${address.port}`]);
const ended = once(worker, 'exit');
const done: unknown[] = [];
worker.on('message', (message) => done.push(message));
while (done.length < 2) await once(worker, 'message');
while (asked === 0) await once(server, 'request');
worker.kill('SIGKILL');
assert.deepEqual(await ended, [null, 'SIGKILL']);
assert.equal(done.join(), 'read_text,ok,count_words,ok');

// The log holds the plan and its progress. Finished calls do not run again; the interrupted idempotent fetch does.
const session = await openSession(jsonlStore(log));
assert.equal(session.openWork().plans.length, 1);
const readAtMs = readTrace(session.records()).nodes[1]?.endedAtMs;
const trace = await resumePlan({ tools, session, resources });
await session.close();
const { text } = await synthesise(trace);
console.log(text);
assert.match(text, /^Status: succeeded: 6 of 6 nodes succeeded/m);
assert.equal(trace.status, 'succeeded');
const counted = trace.nodes.filter(({ tool }) => tool === 'count_words').map(({ value }) => Object(value).words);
assert.equal(counted.join(), '15,6');
assert.equal(trace.nodes[1]?.endedAtMs, readAtMs);
assert.match(readFileSync(join(folder, 'summary.md'), 'utf8'), /\| Sales grew\. A surprise to all\. \| 6 \| 2 \|/);

await close();
server.closeAllConnections();
server.close();
rmSync(folder, { recursive: true });
console.log('a request became a plan; it was killed, resumed and reported, and finished calls did not run again');
