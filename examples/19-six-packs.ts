// Six packs at once: each denies its own risks with a reason, and other calls run.
import assert from 'node:assert/strict';
import { defineTool, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, fetchFacts, fileFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { approvals } from '@holdfast/pack-approvals';
import { budgets } from '@holdfast/pack-budgets';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { networkEgress } from '@holdfast/pack-network';
import { releaseOrder } from '@holdfast/pack-release';
import { shellGuard } from '@holdfast/pack-shell';
import { createRegistry } from '@holdfast/registry';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';

// They do nothing: the example is about which calls may run.
const actions = ['run_command', 'fetch_url'].map(
  (name): Tool =>
    defineTool({
      name,
      description: `Stands in for ${name}.`,
      inputSchema: jsonSchema({ type: 'object', additionalProperties: true }),
      effects: 'state',
      execute: () => 'done',
    }),
);

const registry = createRegistry()
  .use(filesystemGuard)
  .use(shellGuard)
  .use(networkEgress, { config: { hosts: ['*.example.org'] } })
  .use(releaseOrder)
  .use(approvals, { config: { always: [{ runs: 'git commit' }] } })
  .use(budgets, { config: { maxCalls: 5 } });

const files = { '.env': 'TOKEN=1', 'notes.txt': 'Buy tea.' };
const disk = memoryDisk({ '/project/.env': files['.env'], '/project/notes.txt': files['notes.txt'] });
const view = { folder: '/project', workspace: '/project', disk };
const facts = createFacts({ describers: [shellFacts(), fileFacts(), fetchFacts()], view });

const options = {
  tools: [...fileTools(), ...actions],
  session: createSession(),
  policies: registry.policies,
  resources: { filesystem: memoryFilesystem(files) },
  facts,
  // Unattended: calls that need approval are denied.
  unattended: true,
};

/** Makes a call and returns the packs that denied it. */
async function call(name: string, input: object): Promise<string> {
  const against: string[] = [];
  const outcome = await executeToolCall(
    { name, arguments: input },
    {
      ...options,
      onEvent(event) {
        if (event.type !== 'tool-call-end') return;
        for (const { policy, type } of event.decisions) if (type !== 'allow') against.push(policy);
      },
    },
  );
  console.log(name, JSON.stringify(input), outcome.kind, 'message' in outcome ? outcome.message : '');
  return against.length === 0 ? outcome.kind : against.join(', ');
}

assert.match(await call('read_file', { path: './.ENV' }), /host\/filesystem-guard-secret-files/);
assert.equal(await call('read_file', { path: 'notes.txt' }), 'ok');
assert.match(await call('run_command', { command: 'git log; s"u"do reboot' }), /host\/shell-guard-/);
assert.equal(await call('run_command', { command: 'git log --oneline | head -3' }), 'ok');
assert.match(await call('fetch_url', { url: 'http://0x7f000001/admin' }), /host\/network-egress-/);
assert.equal(await call('fetch_url', { url: 'https://api.example.org/teas' }), 'ok');
assert.match(await call('run_command', { command: 'make deploy' }), /^host\/release-order-/);
assert.equal(await call('run_command', { command: 'npm test' }), 'ok');
assert.equal(await call('run_command', { command: 'make deploy' }), 'ok');
assert.match(await call('run_command', { command: 'git commit -m Tea' }), /host\/approvals-/);
assert.match(await call('read_file', { path: 'notes.txt' }), /^host\/budgets-/);
console.log('six packs, and each denied the risk that it guards');
