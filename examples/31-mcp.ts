// A server that knows nothing of Holdfast, a proxy in front of it, and a client: three processes, one of them governed.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { keepOpen, type McpToolsOptions, mcpTools, serveMcp } from '@holdfast/mcp';
import { requireApproval, sequentialDependency } from '@holdfast/policy';
import { createSession, openSession } from '@holdfast/session';
import { jsonlStore, readLog } from '@holdfast/session/jsonl';
import * as v from 'valibot';

const [, , role, log = ''] = process.argv;

/** This program again, as another process. */
function run(...args: readonly string[]): Pick<McpToolsOptions, 'command' | 'args'> {
  return { command: process.execPath, args: [...process.execArgv, fileURLToPath(import.meta.url), ...args] };
}

async function serve(): Promise<void> {
  const text = v.object({ text: v.string() });
  const draft = defineTool({ name: 'draft', description: 'Drafts.', inputSchema: text, execute: (input) => input });
  const send = defineTool({ name: 'send', description: 'Sends.', inputSchema: text, execute: () => 'sent' });
  await serveMcp({ tools: [draft, send] }, { sessions: keepOpen(createSession()) }).stdio().closed;
}

async function stand(): Promise<void> {
  await using mail = await mcpTools({ name: 'mail', ...run('serve'), era: 'legacy', dangerous: false });
  const session = await openSession(jsonlStore(log), { id: 'mail' });
  const policies = [
    sequentialDependency({ mail_send: ['mail_draft'] }),
    requireApproval({ tools: ['mail_send'], reason: 'It leaves the house.' }),
  ];
  await serveMcp(mail, { sessions: keepOpen(session), policies }).stdio().closed;
  await session.close();
}

async function use(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-mcp-'));
  const path = join(folder, 'mail.jsonl');
  const questions: string[] = [];
  const client = await mcpTools({
    name: 'mail',
    ...run('stand', path),
    dangerous: false,
    elicit: ({ message }) => {
      questions.push(message);
      return { action: 'accept', content: { approve: true } };
    },
  });
  const session = createSession();
  const call = async (name: string) => {
    const outcome = await executeToolCall({ name, arguments: { text: 'Hello' } }, { tools: client.tools, session });
    assert(outcome.kind !== 'suspended');
    return outcome;
  };

  // The proxy remembers: nothing is sent that was not drafted before.
  assert.equal((await call('mail_send')).kind, 'failed');
  assert.equal((await call('mail_draft')).kind, 'ok');
  // Now a person has to agree, and the question reaches the client's user.
  assert.match((await call('mail_send')).text, /sent/);
  assert.match(questions.join(), /It leaves the house/);
  await client.close();

  const ends = readLog(path).records.filter(({ type }) => type === 'tool-call-end');
  assert.deepEqual(
    ends.map(({ name }) => name),
    ['mail_send', 'mail_draft', 'mail_send'],
  );
  await rm(folder, { recursive: true });
  console.log('Denied, allowed, approved by the user of the client: three calls, one log.');
}

await (role === 'serve' ? serve() : role === 'stand' ? stand() : use());
