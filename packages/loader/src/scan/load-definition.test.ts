import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tool } from '@holdfast/core';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTools } from '../load/tools.ts';
import { bareContext as context } from '../test-project.ts';
import { readMetadata } from './metadata.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-loader-'));
  // Like a package manager.
  install('@holdfast/core', '.');
  install('@holdfast/schema', './json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function install(name: string, entry: string): void {
  const place = join(folder, 'node_modules', name);
  mkdirSync(place, { recursive: true });
  const manifest = { name, type: 'module', exports: { [entry]: './index.mjs' } };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  const source = fileURLToPath(import.meta.resolve(join(name, entry)));
  writeFileSync(join(place, 'index.mjs'), `export * from ${JSON.stringify(source)};\n`);
}

async function load(members: string, after = ''): Promise<Tool> {
  writeFileSync(
    join(folder, 'greet.ts'),
    `import { defineTool, toolOk } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
export default defineTool({
  name: 'greet', description: 'Greets a person.', effects: 'none',
  inputSchema: jsonSchema({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }),
  ${members}
});
${after}`,
  );
  const { tools, diagnostics } = await loadTools(folder, { isolation: 'in-process' });
  expect(diagnostics).toEqual([]);
  const [tool] = tools;
  if (tool === undefined) throw new Error('The test needs a tool.');
  return tool;
}

test('a tool defined by a file runs its execute with input, context and `this`', async () => {
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

test('a named execute', async () => {
  const tool = await load('execute: greet', 'async function greet({ name }) { return name; }');
  expect(await tool.execute?.({ name: 'Ada' }, context)).toBe('Ada');
});

test('a definition that its file mutates: the declared values apply, and only functions are called', async () => {
  writeFileSync(
    join(folder, 'quiet.mjs'),
    `import { defineTool } from '@holdfast/core';
const definition = { name: 'quiet', description: 'Says nothing.', effects: 'none', execute() { return 1; } };
definition.name = 'loud';
definition.dangerous = true;
definition.execute = 'nothing';
export default defineTool(definition);`,
  );
  const { tools } = await loadTools(folder, { isolation: 'in-process' });
  expect(tools).toMatchObject([{ name: 'quiet', dangerous: false }]);
  await expect(tools[0]?.execute?.({}, context)).rejects.toMatchObject({
    code: 'tool.file.import_failed',
    message: expect.stringContaining('`quiet.mjs`'),
  });
});

const text = fc.string({ minLength: 1, maxLength: 200 }).filter((one) => one.trim() !== '');
// The loader trims descriptions of examples, `defineTool` does not.
const trimmed = text.map((one) => one.trim());
const city = fc.string({ maxLength: 20 }).filter((one) => /^[\x20-\x7e]*$/.test(one));
const members = fc
  .record(
    {
      effects: fc.constantFrom('none', 'state', 'external'),
      repeat: fc.constantFrom('safe', 'keyed', 'never'),
      dangerous: fc.boolean(),
      timeoutMs: fc.integer({ min: 1 }),
      retry: fc.record(
        { attempts: fc.integer({ min: 2, max: 10 }), delayMs: fc.integer({ min: 0, max: 60_000 }) },
        { requiredKeys: ['attempts'] },
      ),
      examples: fc.array(fc.record({ description: trimmed, input: fc.record({ city }), output: city }), {
        maxLength: 3,
      }),
      environment: fc.constantFrom(['API_KEY'], ['API_KEY', 'REGION?']),
    },
    { requiredKeys: [] },
  )
  .map(({ retry, ...rest }) => {
    const repeat = rest.repeat ?? (rest.effects === 'none' ? 'safe' : 'never');
    return { ...rest, ...(retry === undefined || repeat === 'never' ? {} : { retry }) };
  });
const schemas = fc.record(
  { inputSchema: fc.record({ description: text, default: city }), outputSchema: fc.record({ description: text }) },
  { requiredKeys: ['inputSchema'] },
);
const styles = [
  'export default defineTool({ ...members, ...schemas, execute: () => null });',
  'const definition = { ...members, ...schemas, execute() { return null; } };\nexport default defineTool(definition);',
  'const tool = defineTool({ ...members, ...schemas, execute });\nfunction execute() { return null; }\nexport { tool as default };',
];

test('property: the definition that is read equals the one that the file creates', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(text, members, schemas, fc.constantFrom(...styles), async (description, some, given, style) => {
      const inputSchema = { type: 'object', properties: { city: { type: 'string', ...given.inputSchema } } };
      const outputSchema = given.outputSchema && { type: 'string', ...given.outputSchema };
      const written = Object.entries({ name: 'subject', description, ...some })
        .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
        .join(', ');
      const output = outputSchema === undefined ? '' : `outputSchema: jsonSchema(${JSON.stringify(outputSchema)}), `;
      const source = `import { defineTool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';\n${style
        .replace('...members', () => written)
        .replace('...schemas, ', () => `inputSchema: jsonSchema(${JSON.stringify(inputSchema)}), ${output}`)}\n`;
      const file = join(folder, `subject${number++}.mjs`);
      writeFileSync(file, source);
      const reading = await readMetadata(source, 'subject.mjs');
      expect(reading, JSON.stringify(reading)).toMatchObject({ type: 'read' });
      if (reading.type === 'refused') return;
      const {
        parameters,
        returns,
        form: _form,
        function: _function,
        resources,
        isolation,
        version,
        maxResultBytes,
        environment,
        command,
        passing,
        undeclared,
        dangerous,
        ...rest
      } = reading.metadata;
      const module: { readonly default: Tool } = await import(/* @vite-ignore */ file);
      expect(module.default).toMatchObject({
        ...rest,
        // A tool without declared effects counts as dangerous in a folder.
        dangerous: dangerous && !undeclared,
        ...(undeclared ? { undeclared } : {}),
        inputSchema: { schema: parameters },
        outputSchema: returns && { schema: returns },
      });
      expect(module.default.environment).toEqual(environment);
      expect([resources, isolation, version, maxResultBytes, command, passing].every((one) => one === undefined)).toBe(
        true,
      );
    }),
    { numRuns: 50 },
  );
});
