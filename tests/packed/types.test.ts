import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readPackages } from './packed-package.ts';
import { createProject, type Ended, type Project, readCatalogVersion } from './stranger.ts';

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

// A tool, a policy and a model, each with what it gets and gives used.
const program = `import { allow, defineTool, definePolicy, deny, type Model, type ModelEvent, type Policy, toolOk } from '@holdfast/core';
import { type RunResult, runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

const double = defineTool({
  name: 'double',
  description: 'Double a number.',
  inputSchema: v.object({ number: v.number(), note: v.optional(v.string()) }),
  effects: 'none',
  execute: ({ number, note }) => toolOk({ doubled: number * 2, length: note?.length ?? 0 }),
});

const atMost: (most: number) => Policy<number> = (most) =>
  definePolicy({
    name: 'at-most',
    initialState: 0,
    check: (call, { state }) => (state < most ? allow : deny(\`No more of \${call.tool.name}.\`)),
    onResult: (_call, _result, { state }) => state + 1,
  });

const model: Model = {
  id: 'own',
  async *stream({ messages, signal }): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted();
    yield { type: 'text-delta', text: \`\${messages.length} messages\` };
    yield { type: 'finish', reason: 'stop' };
  },
};

const prompt = createPrompt({
  ns: 'stranger',
  key: 'double',
  sections: [markdownSection({ title: 'Numbers', template: 'Use the tool.', tools: [double], policies: [atMost(2)] })],
});
const { status, text }: RunResult = await runAgent({ model, prompt, session: createSession(), input: 'Hello' }).result;
export const said: string = \`\${status} \${text}\`;
`;

const libraries = (await readPackages(inject('tarballs'))).filter(({ manifest }) => manifest.exports !== undefined);
const specifiers = libraries.flatMap(({ manifest }) =>
  Object.keys(manifest.exports ?? {})
    .filter((subpath) => subpath !== './package.json')
    .map((subpath) => `${manifest.name}${subpath.slice(1)}`),
);

let project: Project;

beforeAll(async () => {
  project = await createProject(inject('registry'), [
    ...libraries.map(({ manifest }) => manifest.name),
    `valibot@${await readCatalogVersion('valibot')}`,
    `@types/node@${await readCatalogVersion('@types/node')}`,
    `@opentelemetry/api@${await readCatalogVersion('@opentelemetry/api')}`,
    `@dbos-inc/dbos-sdk@${await readCatalogVersion('@dbos-inc/dbos-sdk')}`,
  ]);
  await project.write('program.ts', program);
});

afterAll(() => project.remove());

const strict = {
  target: 'es2024',
  noEmit: true,
  strict: true,
  // The declarations of the packages are checked too.
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
};

async function check(file: string, compilerOptions: object): Promise<Ended> {
  const options = { ...strict, ...compilerOptions };
  await project.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: [file] }));
  return project.run(process.execPath, [compiler, '--project', '.']);
}

const forNode = { module: 'nodenext', lib: ['es2024'], types: ['node'] };

test.each([
  ['Node.js', forNode],
  ['a bundler for browsers', { module: 'esnext', moduleResolution: 'bundler', lib: ['es2024', 'dom'], types: [] }],
])('a tool, a policy and a model are strictly typed for %s', async (_, compilerOptions) => {
  expect(await check('program.ts', compilerOptions)).toEqual({ status: 0, output: '' });
});

test('the declarations of every package and subpath are sound', async () => {
  expect(specifiers.length).toBeGreaterThan(libraries.length);
  const names = specifiers.map((_, index) => `part${index}`);
  const imports = specifiers.map((specifier, index) => `import * as ${names[index]} from '${specifier}';`);
  await project.write(
    'everything.ts',
    `${imports.join('\n')}\nexport const all: readonly object[] = [${names.join()}];\n`,
  );
  expect(await check('everything.ts', forNode)).toEqual({ status: 0, output: '' });
});

test('what does not fit is found there', async () => {
  const wrong = program.replace('number * 2', 'number.length').replace("'Hello'", '7');
  await project.write('wrong.ts', wrong);
  const { status, output } = await check('wrong.ts', forNode);
  expect(status).not.toBe(0);
  expect(output).toMatch(/'length' does not exist on type 'number'[\s\S]*'number' is not assignable to type 'string'/);
});
