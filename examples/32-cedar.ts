// The rules are Cedar policies (see cedar/agent.cedar) over the facts of a call. In doubt the answer is no, also where Cedar only notes an error.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { createSession } from '@holdfast/session';
import { z } from 'zod';
import { cedarPolicy } from './cedar/policy.ts';

const bash = defineTool({
  name: 'bash',
  description: 'Runs a command.',
  inputSchema: z.object({ command: z.string() }),
  execute: () => '',
});
const view = { folder: '/w', workspace: '/w', disk: memoryDisk({ '/w/.env': 'TOKEN=1', '/w/src/a.ts': '' }) };
const shared = { session: createSession(), tools: [bash], facts: createFacts({ describers: [shellFacts()], view }) };
async function call(command: string, text = readFileSync(new URL('cedar/agent.cedar', import.meta.url), 'utf8')) {
  const outcome = await executeToolCall(
    { name: 'bash', arguments: { command } },
    { ...shared, policies: [cedarPolicy(text)] },
  );
  assert(outcome.kind !== 'suspended');
  return outcome.kind === 'ok' ? 'ok' : outcome.message;
}

assert.equal(await call('cat src/a.ts'), 'ok');
assert.match(await call('base64 < .env'), /Secrets stay/);
assert.match(await call('grep -r TOKEN .'), /Secrets stay/);
assert.match(await call('rm -rf ../other'), /outside of the workspace/);
assert.match(await call('curl https://example.org'), /Only the registry/);
assert.match(await call('eval "$x"'), /No policy permits it/);
// Cedar allows this, with an error: it skips what asks for a fact that is not there.
assert.match(
  await call(
    'ls',
    'permit(principal, action, resource); forbid(principal, action, resource) when { context.branch == "main" };',
  ),
  /cannot be evaluated/,
);
console.log('Cedar decides on facts, and denies in doubt');
