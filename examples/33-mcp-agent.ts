// An agent of the AI SDK works on the reference filesystem server through `holdfast mcp wrap`: what it overwrites it has to read first, a person
// is asked about the release notes, and the question outlives the proxy that asked it.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { readLog } from '@holdfast/session/jsonl';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { ProxiedServer, pinServer } from './mcp/proxied-server.ts';

const base = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-agent-')));
const [home, work] = [join(base, 'home'), join(base, 'work')];
for (const folder of [home, work]) await mkdir(folder);
const path = join(work, 'release.md');
await writeFile(path, 'Version 1.\n');
// The user's own rule.
await writeFile(join(home, 'holdfast.policy.json'), '{ "ask": [{ "writes": "release.md" }] }');

await pinServer(work);
const proxy = new ProxiedServer(work, home);
const client = await createMCPClient({ transport: proxy, capabilities: { elicitation: {} } });
const questions: string[] = [];
client.onElicitationRequest(ElicitationRequestSchema, async ({ params }) => {
  questions.push(params.message);
  await proxy.kill();
  return { action: 'accept', content: { approve: true } };
});

const call = (name: string, input: object) => ({
  type: 'tool-call' as const,
  toolCallId: name,
  toolName: name,
  input: JSON.stringify(input),
});
const write = call('write_file', { path, content: 'Version 2.\n' });
const steps = [write, call('read_text_file', { path }), write, { type: 'text' as const, text: 'Done.' }];
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const model = new MockLanguageModelV4({
  doGenerate: steps.map((content) => ({
    content: [content],
    finishReason: { unified: content.type === 'text' ? 'stop' : 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  })),
});
const run = await generateText({
  model,
  tools: await client.tools(),
  prompt: 'Write the release notes.',
  stopWhen: isStepCount(9),
});
await client.close();

const told = run.steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => JSON.stringify(output)));
assert.match(told[0] ?? '', /`release.md` exists already: read it/);
assert.match(told[1] ?? '', /Version 1/);
assert.match(questions.join(), /Rule in `user\/holdfast.policy.json:1`/);
assert.equal(proxy.started, 2);
assert.equal(await readFile(path, 'utf8'), 'Version 2.\n');
const { records } = readLog(join(home, 'guard', '.holdfast', 'sessions', 'mcp-agent.jsonl'));
const ends = records.filter(({ type }) => type === 'tool-call-end');
assert.deepEqual(
  ends.map(({ name, outcome }) => `${String(name)}: ${(outcome as { kind: string }).kind}`),
  ['files_write_file: denied', 'files_read_text_file: ok', 'files_write_file: ok'],
);
await rm(base, { recursive: true });
console.log('Read first, then asked; the proxy died over the question, and another one went on: one file written.');
