import { type NewPackage, toConstantName, toPackageFiles, toRange } from './package.ts';

/** The files of a working plugin to start from, by path. */
export function toPluginFiles(project: NewPackage): ReadonlyMap<string, string> {
  const constant = toConstantName(project.name);
  return new Map([
    ...toPackageFiles(project, {
      kind: 'plugin',
      description: 'Tools for Holdfast: counts words.',
      scripts: {},
      dependencies: { valibot: '^1.0.0' },
      devDependencies: ['@holdfast/executor', '@holdfast/registry', '@holdfast/session'],
    }),
    ['src/index.ts', toSource(project, constant)],
    ['test/plugin.test.ts', toTest(project, constant)],
    ['README.md', toReadme(project, constant)],
  ]);
}

function toSource({ name, version }: NewPackage, constant: string): string {
  return `import { definePlugin, defineTool, type ExecutableTool, type Plugin, toolOk } from '@holdfast/core';
import * as v from 'valibot';

/** Counts the words of a text. Replace with your own tools. */
export const countWords: ExecutableTool<{ readonly text: string }, { readonly words: number }> = defineTool({
  name: 'count_words',
  // For the model: what the tool does and when to use it.
  description: 'Count the words of a text.',
  inputSchema: v.object({ text: v.pipe(v.string(), v.maxLength(100_000), v.description('The text')) }),
  outputSchema: v.object({ words: v.number() }),
  // 'none': changes nothing. 'state': session and files only. 'external': anything else.
  effects: 'none',
  examples: [{ description: 'Two words', input: { text: 'Good morning' }, output: { words: 2 } }],
  execute: ({ text }) => toolOk({ words: text.split(/\\s+/).filter((word) => word !== '').length }),
});

export const ${constant}: Plugin = definePlugin({
  name: '${name}',
  version: '0.1.0', // Same as in package.json.
  description: 'Counts words.',
  holdfast: '${toRange(version)}',
  tools: [countWords],
});
`;
}

function toTest({ name }: NewPackage, constant: string): string {
  return `import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { executeToolCall } from '@holdfast/executor';
import { createRegistry } from '@holdfast/registry';
import { createSession } from '@holdfast/session';
import { ${constant} } from '../src/index.ts';

const { tools, problems, policies } = createRegistry().use(${constant});

async function call(input: unknown) {
  const options = { tools, policies, session: createSession() };
  return executeToolCall({ name: 'count_words', arguments: input }, options);
}

test('a host can use it', () => {
  assert.deepEqual(problems, []);
  assert.equal(${constant}.name, '${name}');
  assert.equal(${constant}.version, JSON.parse(readFileSync('package.json', 'utf8')).version);
});

test('it counts words', async () => {
  const outcome = await call({ text: ' one  two\\nthree ' });
  assert.equal(outcome.kind, 'ok');
  if (outcome.kind === 'ok') assert.deepEqual(outcome.value, { words: 3 });
});

test('a value that is not a text is refused', async () => {
  assert.equal((await call({ text: 3 })).kind, 'invalid');
});
`;
}

function toReadme({ packageName }: NewPackage, constant: string): string {
  return `# ${packageName}

A plugin for [Holdfast](https://www.npmjs.com/package/holdfast): counts words.

\`\`\`ts
// holdfast.config.ts
import { defineConfig } from '@holdfast/registry';

export default defineConfig({
  plugins: ['${packageName}'],
});
\`\`\`

Or in code: \`createRegistry().use(${constant}).tools\`.

| tool | what it does |
| --- | --- |
| \`count_words\` | counts the words of a text |

## Working on it

\`\`\`sh
npm install
npm test
npm run dev      # the tests after every change
npm publish      # builds first
\`\`\`
`;
}
