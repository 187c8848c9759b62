import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allow, ask, definePolicy, defineTool, deny, type Policy, type Tool } from '@holdfast/core';
import { answerApproval, executeToolCall, resumeToolCall } from '@holdfast/executor';
import { createFacts, fileFacts, findWithin, shellFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createSession, memoryStore, replay } from '@holdfast/session';
import * as v from 'valibot';
import { expect, test } from 'vitest';

/** A workspace on a real disk, and calls in it. */
async function workspace() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'facts-')));
  const folder = join(root, 'project');
  await mkdir(folder);
  const view = { folder, workspace: folder, disk: nodeDisk(folder) };
  return {
    root,
    folder,
    facts: createFacts({ describers: [shellFacts(), fileFacts()], view }),
    write: (name: string, text: string) => writeFile(join(folder, name), text),
    link: async (name: string, target: string) => {
      await rm(join(folder, name), { force: true });
      await symlink(target, join(folder, name));
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

const ran: string[] = [];
const tools: readonly Tool[] = [
  defineTool({
    name: 'bash',
    description: 'Runs a command.',
    inputSchema: v.object({ command: v.string() }),
    execute({ command }) {
      ran.push(command);
      return null;
    },
  }),
  defineTool({
    name: 'write_file',
    description: 'Writes a file.',
    inputSchema: v.object({ file_path: v.string(), content: v.string() }),
    execute: () => null,
  }),
];

const insideOnly: Policy = definePolicy({
  name: 'inside-only',
  check: ({ facts }) => {
    const outside = facts?.reads.find(({ inside }) => !inside);
    return outside === undefined ? ask('May it read that?') : ask(`May it read \`${outside.path}\`?`);
  },
});

test.each([
  { what: 'leads where it led', target: 'a.md', kind: 'ok', question: undefined },
  { what: 'leads out of the workspace', target: '/etc/passwd', kind: 'suspended', question: '`/etc/passwd`' },
])('a link that $what when a person has said yes: $kind', async ({ target, kind, question }) => {
  await using here = await workspace();
  await here.write('a.md', 'A');
  await here.link('notes', 'a.md');
  const store = memoryStore();
  const options = { tools, policies: [insideOnly], facts: here.facts };
  const call = { id: 'c', name: 'bash', arguments: { command: 'cat notes' } };
  ran.length = 0;
  const session = createSession({ store });
  expect(await executeToolCall(call, { ...options, session })).toMatchObject({ kind: 'suspended' });
  await answerApproval(session, 'c', { type: 'approve' });
  await here.link('notes', target);
  // Another process resumes it.
  const outcome = await resumeToolCall('c', { ...options, session: replay(store.records, { store }) });
  expect(outcome.kind).toBe(kind);
  expect(ran).toEqual(kind === 'ok' ? ['cat notes'] : []);
  if (outcome.kind === 'suspended' && question !== undefined) {
    expect(outcome.pending[0]?.asks[0]?.reason).toContain(question);
    expect(store.records.filter(({ type }) => type === 'approval-request')).toHaveLength(2);
  }
});

test('a link that changes while the host asks is asked about again', async () => {
  await using here = await workspace();
  await here.write('a.md', 'A');
  await here.link('notes', 'a.md');
  const reasons: (string | undefined)[] = [];
  const outcome = await executeToolCall(
    { name: 'bash', arguments: { command: 'cat notes' } },
    {
      tools,
      session: createSession(),
      policies: [insideOnly],
      facts: here.facts,
      async approve({ asks }) {
        reasons.push(asks[0]?.reason);
        await here.link('notes', '/etc/passwd');
        return reasons.length === 1 ? { type: 'approve' } : { type: 'deny' };
      },
    },
  );
  expect(outcome.kind).toBe('denied');
  expect(reasons).toEqual(['May it read that?', 'May it read `/etc/passwd`?']);
});

test('a yes that was given to a host with facts does not hold for one without', async () => {
  await using here = await workspace();
  const options = { tools, policies: [insideOnly], session: createSession() };
  const call = { id: 'c', name: 'bash', arguments: { command: 'cat notes' } };
  expect(await executeToolCall(call, { ...options, facts: here.facts })).toMatchObject({ kind: 'suspended' });
  await answerApproval(options.session, 'c', { type: 'approve' });
  expect((await resumeToolCall('c', options)).kind).toBe('suspended');
});

test('without the option a call has no facts, and its record none', async () => {
  const store = memoryStore();
  const seen: unknown[] = [];
  const seeing = definePolicy({
    name: 'seeing',
    check: (call, { place }) => {
      seen.push('facts' in call, place);
      return allow;
    },
  });
  const options = { tools, policies: [seeing], session: createSession({ store }) };
  await executeToolCall({ name: 'bash', arguments: { command: 'ls' } }, options);
  expect(seen).toEqual([false, undefined]);
  expect(store.records.at(-1)).toMatchObject({ type: 'tool-call-end' });
  expect(store.records.at(-1)?.['facts']).toBeUndefined();
});

const noSecrets: Policy = definePolicy({
  name: 'no-secrets',
  check: ({ facts }, { place }) => {
    if (facts === undefined || place === undefined) return deny('Nothing is known of it.');
    const isSecret = (path: string): boolean => path.endsWith('/.env');
    const found = facts.reads.some(
      (read) => isSecret(read.path) || findWithin(read, place, { matches: isSecret }).type !== 'none',
    );
    if (found) return deny('It reads a secret.');
    return facts.runs.some(({ written }) => written) ? ask('It runs what the session wrote.') : allow;
  },
});

const steps: { what: string; calls: readonly [string, object][]; kinds: readonly string[] }[] = [
  {
    what: 'a script is written by an editor, and run',
    calls: [
      ['write_file', { file_path: 'x.sh', content: 'cat .env' }],
      ['bash', { command: 'sh x.sh' }],
    ],
    kinds: ['ok', 'denied'],
  },
  {
    what: 'a script is written by a shell, made executable, and run',
    calls: [
      ['bash', { command: 'echo "cat .env" > x.sh && chmod +x x.sh' }],
      ['bash', { command: './x.sh' }],
    ],
    kinds: ['ok', 'denied'],
  },
  {
    what: 'a script that was there is run',
    calls: [['bash', { command: 'sh x.sh' }]],
    kinds: ['ok'],
  },
  {
    what: 'a search finds a secret in a folder',
    calls: [
      ['bash', { command: 'grep -r TOKEN .' }],
      ['bash', { command: 'grep -r TOKEN docs' }],
    ],
    kinds: ['denied', 'ok'],
  },
];
test.each(steps)('$what: $kinds', async ({ calls, kinds }) => {
  await using here = await workspace();
  await here.write('.env', 'TOKEN=1');
  await here.write('x.sh', 'cat .env');
  await mkdir(join(here.folder, 'docs'));
  const options = { tools, session: createSession(), policies: [noSecrets], facts: here.facts, unattended: true };
  const ended: string[] = [];
  for (const [name, input] of calls) ended.push((await executeToolCall({ name, arguments: input }, options)).kind);
  expect(ended).toEqual(kinds);
});
