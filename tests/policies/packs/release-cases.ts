import { defineTool, type Tool, toolError } from '@holdfast/core';
import { createFacts, fileFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import type { PackCases, PolicyCall, PolicyStep, PresetCases } from '@holdfast/testing';
import * as v from 'valibot';

/** A tool that does nothing, and fails where it is told to. */
export const bash: Tool = defineTool({
  name: 'bash',
  description: 'Stands in for a shell.',
  inputSchema: v.object({ command: v.union([v.string(), v.array(v.string())]), fails: v.optional(v.boolean()) }),
  execute: ({ fails = false }) => (fails ? toolError('It failed.') : null),
});

const run = (command: string): PolicyCall => ({ tool: 'bash', input: { command } });
const test = run('npm test');
const push = run('git push');
const publish = run('npm publish');
const read = (path: string): PolicyCall => ({ tool: 'read_file', input: { path } });
const write = (path: string): PolicyCall => ({ tool: 'write_file', input: { path, content: 'new' } });
const failed = (command: string): PolicyStep => ({ tool: 'bash', input: { command, fails: true }, outcome: 'failed' });

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

const disk = memoryDisk({ '/w/package.json': '{}', '/w/src/a.ts': 'old', '/w/other/.git/HEAD': '' });
const world: Pick<PresetCases, 'tools' | 'resources' | 'facts' | 'different'> = {
  tools: [bash, ...fileTools()],
  resources: () => ({ filesystem: memoryFilesystem({ 'src/a.ts': 'old' }) }),
  facts: createFacts({ describers: [shellFacts(), fileFacts()], view: { folder: '/w', workspace: '/w', disk } }),
  // Another spelling of a command is another program, that pushes nothing.
  different: ['case', 'unicode', 'path', 'space', 'wrapped'],
};

export const cases: PackCases = {
  presets: {
    recommended: {
      ...world,
      cases: [
        { call: run('ls'), answer: 'allow' },
        { call: test, answer: 'allow' },
        { call: push, answer: 'deny', reason: 'list them in `checks`' },
        { call: publish, answer: 'deny', reason: 'no check has succeeded in this worktree since its last change' },
        { call: run("sh -c 'git -C . push'"), answer: 'deny' },
        { call: run('git $x'), answer: 'deny' },
        { after: [test], call: push, answer: 'allow' },
        { after: [run('pytest -q')], call: publish, answer: 'allow' },
        { title: 'in one call', call: run('npm test && git push'), answer: 'allow' },
        { title: 'whatever came of it', call: run('npm test; git push'), answer: 'deny' },
        { title: 'a build does not count as a check', after: [run('npm run build')], call: push, answer: 'deny' },
        { title: 'E11: it failed', after: [failed('npm test')], call: push, answer: 'deny' },
        { title: 'a check before a change', after: [test, write('new.ts')], call: push, answer: 'deny' },
        { title: 'a check before a change by a command', after: [test, run('touch b')], call: push, answer: 'deny' },
        {
          title: 'a check before a command that failed and may have changed a file',
          after: [test, failed('sed -i s/a/b/ src/a.ts; false')],
          call: push,
          answer: 'deny',
        },
        {
          title: 'a check after such a command',
          after: [test, failed('sed -i s/a/b/ src/a.ts; false'), test],
          call: push,
          answer: 'allow',
        },
        {
          title: 'a failure that changes nothing',
          after: [test, failed('grep x src/a.ts')],
          call: push,
          answer: 'allow',
        },
        { title: 'a check after a change', after: [test, write('new.ts'), test], call: push, answer: 'allow' },
        { title: 'reading changes nothing', after: [test, read('src/a.ts')], call: push, answer: 'allow' },
        { title: 'another worktree', after: [run('cd other && npm test')], call: push, answer: 'deny' },
        {
          title: 'the same other worktree',
          after: [run('cd other && npm test')],
          call: run('cd other && git push'),
          answer: 'allow',
        },
        ...files,
      ],
    },
    strict: {
      ...world,
      cases: [
        { call: push, answer: 'deny' },
        { after: [test], call: push, answer: 'ask', reason: 'which needs approval' },
        { call: run('git log'), answer: 'allow' },
        ...files,
      ],
    },
  },
  configs: [
    {
      title: 'an order of commands',
      config: { order: { 'make ship': ['make lint', 'make test'], 'npm publish': [] }, checks: ['make check'] },
      ...world,
      cases: [
        { call: run('make ship'), answer: 'deny', reason: '`make lint`, `make test` must have succeeded' },
        { after: [run('make lint')], call: run('make ship'), answer: 'deny', reason: '`make test` must' },
        { after: [run('make lint'), run('make test')], call: run('make ship'), answer: 'allow' },
        { title: 'nothing has to come first', call: publish, answer: 'allow' },
        { title: 'a check of the host', after: [run('make check')], call: push, answer: 'allow' },
        { title: 'a check that the host does not name', after: [test], call: push, answer: 'deny' },
        { title: 'one of the order', after: [run('make lint')], call: push, answer: 'allow' },
      ],
    },
  ],
};
