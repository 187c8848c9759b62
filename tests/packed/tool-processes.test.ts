import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProject, findNode, type Project } from './stranger.ts';

const metadata = (name: string): string => `export const METADATA = {
  name: '${name}', function: 'work', description: 'Tell where it runs.', dangerous: false,
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};`;
const files = {
  'plugins/plain.mjs': `${metadata('plain')}
export async function work({ word }, { filesystem }) { return [word, process.pid, await filesystem.readText('a.txt')]; }
`,
  'plugins/typed.ts': `import { loud } from '../src/loud.ts';
${metadata('typed')}
interface Input { readonly word: string }
export const work = ({ word }: Input): readonly [string, number] => [loud(word), process.pid];
`,
  'plugins/defined.mjs': `import { defineTool, toolOk } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
export default defineTool({
  name: 'defined', description: 'Tell where it runs.', effects: 'none',
  inputSchema: jsonSchema({ type: 'object', properties: { word: { type: 'string' } }, required: ['word'] }),
  execute: ({ word }) => toolOk([word, process.pid]),
});
`,
  'src/loud.ts': 'export const loud = (word: string): string => word.toUpperCase();\n',
  'call.mjs': `import { executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { compareLock, loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';

const lock = 'holdfast.lock';
await (await compareLock('plugins', { lock })).accept();
const found = [];
for (const options of [{}, { lock }, { isolation: 'worker', lock }]) {
  const { tools, diagnostics, close } = await loadTools('plugins', options);
  for (const { name } of tools) {
    const { kind, value, message } = await executeToolCall(
      { id: name, name, arguments: { word: 'hello' } },
      { tools, session: createSession(), resources: { filesystem: memoryFilesystem({ 'a.txt': 'A' }) } },
    );
    const [word, pid, ...rest] = value ?? [];
    found.push([name, kind, word ?? message, pid === process.pid ? 'here' : 'elsewhere', ...rest].join(' '));
  }
  await close();
  found.push(diagnostics.map(({ code }) => code).join());
}
console.log(JSON.stringify(found));
`,
};

let project: Project;

beforeAll(async () => {
  project = await createProject(
    inject('registry'),
    ['core', 'executor', 'filesystem', 'loader', 'session'].map((name) => `@holdfast/${name}`),
  );
  for (const [path, text] of Object.entries(files)) await project.write(path, text);
});

afterAll(() => project.remove());

// The oldest one has fewer permissions to give.
test.each(['22.18.0', process.versions.node])(
  'tools of a folder run in processes and threads of their own on Node.js %s, TypeScript and locked ones too',
  async (version) => {
    const node = version === process.versions.node ? process.execPath : await findNode(version);
    const { status, output } = await project.run(node, ['call.mjs']);
    expect(status, output).toBe(0);
    const inProcess = ['defined ok hello elsewhere', 'plain ok hello elsewhere A', 'typed ok HELLO elsewhere', ''];
    const inThread = inProcess.map((line) => line.replace('elsewhere', 'here'));
    expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toEqual([...inProcess, ...inProcess, ...inThread]);
  },
);
