import { defineTool, type FactsSource, type Tool } from '@holdfast/core';
import { createFacts, fileFacts, memoryDisk } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import type { PackCases, PolicyCall, PresetCases } from '@holdfast/testing';
import * as v from 'valibot';

export const files: Readonly<Record<string, string>> = {
  '.env': 'TOKEN=tulip\n',
  '.env.example': 'TOKEN=\n',
  '.git/config': '[core]\n',
  '.git/hooks/pre-commit': 'exit 0\n',
  '.github/workflows/ci.yml': 'on: push\n',
  '.ssh/id_ed25519': 'tulip\n',
  'certs/server.PEM': 'tulip\n',
  'certs/server.pub': 'open\n',
  'src/a.ts': 'const flower = 1;\n',
};

/** A tool of the host that reads one file and writes another, by names of its own. */
export const copyFile: Tool = defineTool({
  name: 'copy_file',
  description: 'Copy a file.',
  inputSchema: v.object({ from: v.string(), to: v.string() }),
  effects: 'state',
  async execute({ from, to }, { filesystem }) {
    await filesystem?.write(to, (await filesystem.readText(from)) ?? '');
    return null;
  },
});

const read = (path: string): PolicyCall => ({ tool: 'read_file', input: { path } });
const write = (path: string): PolicyCall => ({ tool: 'write_file', input: { path, content: 'new' } });
const edit = (path: string): PolicyCall => ({ tool: 'edit_file', input: { path, oldText: 'o', newText: '0' } });
const remove = (path: string): PolicyCall => ({ tool: 'delete_file', input: { path } });
const grep = (input: Readonly<Record<string, string>>): PolicyCall => ({
  tool: 'grep_files',
  input: { pattern: 'flower', ...input },
});
const copy = (from: string, to: string): PolicyCall => ({ tool: 'copy_file', input: { from, to } });

const root = '/w';
const disk = memoryDisk(Object.fromEntries(Object.entries(files).map(([path, text]) => [`${root}/${path}`, text])));
const describers = [fileFacts(), fileFacts({ tools: { copy_file: { reads: ['from'], writes: ['to'] } } })];
const facts: FactsSource = createFacts({ describers, view: { folder: root, workspace: root, disk } });

const world: Pick<PresetCases, 'tools' | 'resources' | 'facts'> = {
  tools: [...fileTools(), copyFile],
  resources: () => ({ filesystem: memoryFilesystem(files) }),
  facts,
};

// A name with a letter that only looks like another one is another file.
const lookAlike = { different: ['unicode'] } as const;

/** A call that takes in a secret with its folder asks, or is refused like the secret itself. */
const secrets = (folder: 'ask' | 'deny'): PresetCases['cases'] => [
  { call: read('src/a.ts'), answer: 'allow' },
  { call: read('.env'), answer: 'deny', reason: '`.env` holds secrets and must not be read' },
  { call: read('.ssh/id_ed25519'), answer: 'deny', reason: 'holds secrets' },
  { call: read('certs/server.PEM'), answer: 'deny', reason: 'holds secrets' },
  { call: read('.git/config'), answer: 'deny', reason: 'holds secrets' },
  { title: 'an example', call: read('.env.example'), answer: 'allow' },
  { title: 'a public key', call: read('certs/server.pub'), answer: 'allow' },
  { title: 'an example is written', call: write('.env.example'), answer: 'allow' },
  { call: write('.env'), answer: 'deny', reason: 'must not be written', ...lookAlike },
  { title: 'a new secret', call: write('deploy/.env.production'), answer: 'deny', ...lookAlike },
  { call: edit('.env'), answer: 'deny', reason: 'must not be read' },
  { call: remove('.env'), answer: 'deny', reason: 'must not be deleted' },
  { title: 'everything is searched', call: grep({}), answer: folder, reason: 'holds secrets and would be read' },
  { call: grep({ path: '.ssh' }), answer: 'deny', reason: '`.ssh` holds secrets and must not be read' },
  // Another spelling of the pattern finds other files.
  { call: grep({ glob: '*.{ts,env}' }), answer: folder, different: ['case', 'unicode', 'space', 'path'] },
  { title: 'a search in a folder without secrets', call: grep({ path: 'src' }), answer: 'allow' },
  { title: 'a search in files of one kind', call: grep({ glob: '*.ts' }), answer: 'allow' },
  { title: 'names are not secrets', call: { tool: 'glob_files', input: { pattern: '**' } }, answer: 'allow' },
  { title: 'a folder is listed', call: { tool: 'list_files', input: { path: '.ssh' } }, answer: 'allow' },
];

const readOnly: PresetCases['cases'] = [
  { call: read('.git/hooks/pre-commit'), answer: 'allow' },
  {
    call: write('.git/hooks/pre-commit'),
    answer: 'deny',
    reason: '`.git/hooks/pre-commit` must not be written',
    ...lookAlike,
  },
  { call: write('vendor/part/.git/HEAD'), answer: 'deny', ...lookAlike },
  { call: remove('.git/hooks/pre-commit'), answer: 'deny' },
];

export const cases: PackCases = {
  presets: {
    recommended: {
      ...world,
      cases: [
        ...secrets('ask'),
        ...readOnly,
        {
          title: 'what runs by itself',
          call: write('.github/workflows/ci.yml'),
          answer: 'ask',
          reason: 'continuous integration runs it',
          different: ['unicode', 'space'],
        },
        { call: read('../other/a.ts'), answer: 'ask', reason: 'outside of the workspace', different: ['path'] },
      ],
    },
    strict: {
      ...world,
      cases: [
        ...secrets('deny'),
        ...readOnly,
        { call: read('../other/a.ts'), answer: 'deny', different: ['path'] },
        { call: read('.github/workflows/ci.yml'), answer: 'allow' },
        {
          call: write('.github/workflows/ci.yml'),
          answer: 'deny',
          reason: 'runs by itself',
          different: ['unicode', 'space'],
        },
        { call: write('.vscode/tasks.json'), answer: 'deny', different: ['unicode', 'space'] },
      ],
    },
  },
  configs: [
    {
      title: 'scopes',
      config: { read: ['src', 'docs'], write: ['docs'] },
      ...world,
      cases: [
        { call: read('src/a.ts'), answer: 'allow' },
        { call: read('certs/server.pub'), answer: 'deny', reason: 'allowed: `src`, `docs`' },
        { call: write('docs/a.md'), answer: 'allow' },
        { call: write('src/a.ts'), answer: 'deny', reason: 'allowed: `docs`' },
        { call: grep({ path: 'src' }), answer: 'allow' },
        { call: grep({ path: 'certs', glob: '*.ts' }), answer: 'deny', reason: 'allowed: `src`, `docs`' },
        { title: 'names are not read', call: { tool: 'list_files' }, answer: 'allow' },
      ],
    },
    {
      title: 'own tools and patterns',
      config: {
        secrets: ['ledger/**', '*.{key,secret}s'],
        notSecret: ['.env'],
        readOnly: ['certs'],
      },
      ...world,
      cases: [
        { title: 'what the host calls none', call: read('.env'), answer: 'allow' },
        { call: copy('src/a.ts', 'b.ts'), answer: 'allow' },
        { call: copy('ledger/2026/june', 'b.ts'), answer: 'deny', reason: 'must not be read' },
        { call: copy('src/a.ts', 'own.secrets'), answer: 'deny', reason: 'must not be written', ...lookAlike },
        { call: copy('src/a.ts', 'certs/server.pub'), answer: 'deny', reason: 'it is read-only', ...lookAlike },
        { call: write('src/b.ts'), answer: 'allow' },
        { call: edit('certs/server.pub'), answer: 'deny' },
      ],
    },
  ],
};
