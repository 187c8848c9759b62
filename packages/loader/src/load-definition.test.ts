import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tool, ToolContext } from '@holdfast/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTools } from './load-tools.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-loader-'));
  // As a package manager would put it there.
  const core = join(folder, 'node_modules/@holdfast/core');
  mkdirSync(core, { recursive: true });
  writeFileSync(join(core, 'package.json'), '{ "name": "@holdfast/core", "type": "module", "exports": "./index.mjs" }');
  const source = fileURLToPath(import.meta.resolve('@holdfast/core'));
  writeFileSync(join(core, 'index.mjs'), `export * from ${JSON.stringify(source)};\n`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// The tools of these tests use nothing but the call's id.
const context = { callId: 'call-1' } as ToolContext;

async function load(members: string, after = ''): Promise<Tool> {
  writeFileSync(
    join(folder, 'greet.ts'),
    `import { defineTool, jsonSchema, toolOk } from '@holdfast/core';
export default defineTool({
  name: 'greet', description: 'Greets somebody.', effects: 'none',
  inputSchema: jsonSchema({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }),
  ${members}
});
${after}`,
  );
  const { tools, diagnostics } = await loadTools(folder);
  expect(diagnostics).toEqual([]);
  const [tool] = tools;
  if (tool === undefined) throw new Error('The test needs a tool.');
  return tool;
}

test('a tool that a file defines runs its execute with input, context and itself', async () => {
  const tool = await load(
    "execute({ name }: { name: string }, { callId }) { return toolOk([this.name, name, callId].join(' ')); }",
  );
  expect(tool).toMatchObject({
    name: 'greet',
    effects: 'none',
    origin: { kind: 'file', source: 'greet.ts' },
    inputSchema: { type: 'json-schema', schema: { required: ['name'] } },
  });
  expect(await tool.execute?.({ name: 'Ada' }, context)).toMatchObject({ success: true, value: 'greet Ada call-1' });
});

test('an execute with a name', async () => {
  const tool = await load('execute: greet', 'async function greet({ name }) { return name; }');
  expect(await tool.execute?.({ name: 'Ada' }, context)).toBe('Ada');
});

test('a definition that the file changes under way: what was declared holds, and no value runs in place of a function', async () => {
  writeFileSync(
    join(folder, 'quiet.mjs'),
    `import { defineTool } from '@holdfast/core';
const definition = { name: 'quiet', description: 'Says nothing.', effects: 'none', execute() { return 1; } };
definition.name = 'loud';
definition.dangerous = true;
definition.execute = 'nothing';
export default defineTool(definition);`,
  );
  const { tools } = await loadTools(folder);
  expect(tools).toMatchObject([{ name: 'quiet', dangerous: false }]);
  await expect(tools[0]?.execute?.({}, context)).rejects.toMatchObject({
    code: 'tool.function.not_function',
    message: expect.stringContaining('`quiet.mjs`'),
  });
});
