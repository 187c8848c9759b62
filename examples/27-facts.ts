// One rule for a shell, an editor's tool and an MCP server: none of them reads `.env`, in any spelling, or split over two calls.
import assert from 'node:assert/strict';
import { allow, ask, definePolicy, defineTool, deny, type Json } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, fileFacts, findWithin, mcpFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';

const disk = memoryDisk({
  '/project/.env': 'TOKEN=tulip\n',
  '/project/.gitignore': '.env\n',
  '/project/src/a.ts': 'export {};\n',
  '/project/key': { link: '.env' },
  '/project/x.sh': 'cat .env\n',
});
const facts = createFacts({
  describers: [shellFacts(), fileFacts(), mcpFacts({ server: 'files' })],
  view: { folder: '/project', workspace: '/project', disk },
});
const isSecret = (path: string): boolean => path.endsWith('/.env');

const secrets = definePolicy({
  name: 'secrets',
  check(call, { place }) {
    if (call.facts === undefined || place === undefined) return deny('The effects of the call are unknown.');
    for (const read of call.facts.reads) {
      const found = isSecret(read.path) || findWithin(read, place, { matches: isSecret }).type !== 'none';
      if (found) return deny(`\`${read.path}\` holds secrets.`);
    }
    // Running code of the workspace is normal development; unclear calls need approval.
    const unknown = call.facts.unclear.find(({ kind }) => kind !== 'project');
    return unknown === undefined ? allow : ask(`${unknown.reason}.`);
  },
});

const inputSchema = jsonSchema({ type: 'object', additionalProperties: true });
const tools = ['bash', 'read_file', 'write_file', 'mcp__files__read_file'].map((name) =>
  defineTool({ name, description: 'Does nothing.', inputSchema, execute: () => null }),
);
const options = { tools, session: createSession(), policies: [secrets], facts, unattended: true };

async function decide(name: string, input: Json): Promise<string> {
  const { kind } = await executeToolCall({ name, arguments: input }, options);
  return kind;
}

for (const command of [
  'cat .env',
  'cd src && base64 < ../.e*',
  'grep -r TOKEN .',
  'find . -name ".e*" | xargs cat',
  'f=key; sh -c "cat $f"',
  'cat "$1"',
]) {
  assert.equal(await decide('bash', { command }), 'denied', command);
}
for (const command of ['ls -a', 'rg TODO', 'git status && git diff', 'npm test', 'cat src/*.ts']) {
  assert.equal(await decide('bash', { command }), 'ok', command);
}
assert.equal(await decide('read_file', { path: './key' }), 'denied');
assert.equal(await decide('mcp__files__read_file', { path: '/project/.env' }), 'denied');
assert.equal(await decide('read_file', { path: 'src/a.ts' }), 'ok');

// A script of the workspace may run; once the session has written it, its content counts.
assert.equal(await decide('bash', { command: 'sh x.sh' }), 'ok');
assert.equal(await decide('write_file', { path: 'x.sh', content: 'cat .env' }), 'ok');
assert.equal(await decide('bash', { command: 'sh x.sh' }), 'denied');
console.log('no tool reads `.env`, in any spelling of the call');
