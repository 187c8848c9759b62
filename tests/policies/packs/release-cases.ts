import { defineTool, type Tool, toolError } from '@holdfast/core';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import type { PackCases, PolicyCall, PolicyStep, PresetCases } from '@holdfast/testing';
import * as v from 'valibot';

/** A tool that does nothing, and fails where it is told to. */
export function tool(name: string, effects: Tool['effects'] = 'state'): Tool {
  return defineTool({
    name,
    description: 'Stands in for a tool.',
    inputSchema: v.object({ path: v.optional(v.string()), fails: v.optional(v.boolean()) }),
    effects,
    execute: ({ fails = false }) => (fails ? toolError('It failed.') : null),
  });
}

const test = { tool: 'test' };
const lint = { tool: 'lint' };
const build = { tool: 'build' };
const deploy = { tool: 'deploy' };
const publish = { tool: 'npm_publish' };
const read = (path: string): PolicyCall => ({ tool: 'read_file', input: { path } });
const write = (path: string): PolicyCall => ({ tool: 'write_file', input: { path, content: 'new' } });
const edit = (path: string): PolicyCall => ({ tool: 'edit_file', input: { path, oldText: 'old', newText: 'new' } });
const failed = (call: PolicyCall): PolicyStep => ({ ...call, input: { fails: true }, outcome: 'failed' });

// Files by these names are other files in memory.
const others = { different: ['case', 'unicode', 'space'] } as const;

const files: PresetCases['cases'] = [
  { title: 'a new file', call: write('new.ts'), answer: 'allow' },
  {
    title: 'a file that was not read',
    call: write('src/a.ts'),
    answer: 'deny',
    reason: 'has not been read',
    ...others,
  },
  { title: 'a file that was read', after: [read('src/a.ts')], call: write('src/a.ts'), answer: 'allow' },
  { after: [write('new.ts')], call: write('./src/../new.ts'), answer: 'allow' },
];

const world: Pick<PresetCases, 'tools' | 'resources'> = {
  tools: [
    ...['test', 'run_tests', 'lint', 'build', 'deploy', 'deploy_test', 'npm_publish', 'format'].map((name) =>
      tool(name),
    ),
    ...['read_release', 'search'].map((name) => tool(name, 'none')),
    ...fileTools(),
  ],
  resources: () => ({ filesystem: memoryFilesystem({ 'src/a.ts': 'old' }) }),
};

export const cases: PackCases = {
  presets: {
    recommended: {
      ...world,
      cases: [
        { call: { tool: 'search' }, answer: 'allow' },
        { call: test, answer: 'allow' },
        { call: deploy, answer: 'deny', reason: 'says so in `order`: { "deploy": ["test"] }' },
        { call: publish, answer: 'deny', reason: 'no check has succeeded' },
        { after: [test], call: deploy, answer: 'allow' },
        { after: [{ tool: 'run_tests' }], call: publish, answer: 'allow' },
        { title: 'a build is no check', after: [build, lint], call: deploy, answer: 'deny' },
        { title: 'a release is no check', call: { tool: 'deploy_test' }, answer: 'deny' },
        { title: 'what only reads is no release', call: { tool: 'read_release' }, answer: 'allow' },
        { title: 'a check before a change', after: [test, write('new.ts')], call: deploy, answer: 'allow' },
        ...files,
      ],
    },
    strict: {
      ...world,
      cases: [
        { call: deploy, answer: 'deny', reason: 'before a file was changed does not count' },
        { after: [test], call: deploy, answer: 'ask', reason: 'a person has to agree' },
        { title: 'a check before a change', after: [test, write('new.ts')], call: deploy, answer: 'deny' },
        {
          title: 'a check before an edit',
          after: [read('src/a.ts'), test, edit('src/a.ts')],
          call: deploy,
          answer: 'deny',
        },
        { title: 'a check after a change', after: [test, write('new.ts'), test], call: deploy, answer: 'ask' },
        { title: 'reading changes nothing', after: [test, read('src/a.ts')], call: deploy, answer: 'ask' },
        { call: { tool: 'read_release' }, answer: 'allow' },
        ...files,
      ],
    },
  },
  configs: [
    {
      title: 'an order',
      config: { order: { deploy: ['test', 'build'], build: ['lint'], npm_publish: [] } },
      ...world,
      cases: [
        { call: build, answer: 'deny', reason: '`lint`' },
        { call: deploy, answer: 'deny', reason: '`test`, `build`' },
        { title: 'E11: it failed', after: [failed(lint)], call: build, answer: 'deny' },
        { after: [test], call: deploy, answer: 'deny', reason: '`build`' },
        { after: [test, lint, build], call: deploy, answer: 'allow' },
        { title: 'nothing has to come first', call: publish, answer: 'allow' },
        { title: 'a release without an order', call: { tool: 'deploy_test' }, answer: 'deny' },
        { title: 'one of the checks', after: [lint], call: { tool: 'deploy_test' }, answer: 'allow' },
      ],
    },
    {
      title: 'other names, kept fresh',
      preset: 'strict',
      config: { order: { build: ['lint'] }, releases: ['build'], writers: { format: 'path' } },
      ...world,
      cases: [
        { call: deploy, answer: 'allow' },
        { call: build, answer: 'deny', reason: 'before a file was changed' },
        { after: [lint], call: build, answer: 'ask' },
        {
          title: 'a writer of the host',
          after: [lint, { tool: 'format', input: { path: 'b.ts' } }],
          call: build,
          answer: 'deny',
        },
      ],
    },
  ],
};
