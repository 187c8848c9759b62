// One rule for a shell, an editor's tool and an MCP server: nobody reads `.env`, however the call is written.
import assert from 'node:assert/strict';
import { allow, ask, type Decision, definePolicy, defineTool, deny, type Json } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileFacts, findWithin, mcpFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';

const disk = memoryDisk({
  '/project/.env': 'TOKEN=tulip\n',
  '/project/.gitignore': '.env\n',
  '/project/src/a.ts': 'export {};\n',
  '/project/key': { link: '.env' },
});
const view = { folder: '/project', workspace: '/project', disk };
const describers = [shellFacts(), fileFacts(), mcpFacts({ server: 'files' })];
const isSecret = (path: string): boolean => path.endsWith('/.env');

const secrets = definePolicy({
  name: 'secrets',
  check({ tool, input }): Decision {
    for (const describer of describers) {
      const facts = describer.describe({ tool: tool.name, input }, view);
      if (facts === undefined) continue;
      for (const place of facts.reads) {
        const found = isSecret(place.path) || findWithin(place, view, { matches: isSecret }).type !== 'none';
        if (found) return deny(`\`${place.path}\` holds secrets.`);
      }
      // What runs code of the workspace is a developer's day; what is not known is a question.
      const unknown = facts.unclear.find(({ kind }) => kind !== 'project');
      if (unknown !== undefined) return ask(`${unknown.reason}.`);
    }
    return allow;
  },
});

const inputSchema = jsonSchema({ type: 'object', additionalProperties: true });
const tools = ['bash', 'read_file', 'mcp__files__read_file'].map((name) =>
  defineTool({ name, description: 'Does nothing.', inputSchema, effects: 'none', execute: () => null }),
);
const options = { tools, session: createSession(), policies: [secrets], unattended: true };

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
console.log('`.env` is read by no tool, however it is asked');
