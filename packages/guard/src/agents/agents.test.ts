import { allow, ask, definePolicy, deny, type Policy } from '@holdfast/core';
import { createFacts } from '@holdfast/facts';
import { createSession, memoryStore } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { type Agent, claudeCode, codex, type HookAnswer, runHook } from '../agents.ts';
import { createGuard, type Guard } from '../index.ts';

const agents = { 'claude-code': claudeCode, codex } as const;

/** Captured from Codex 0.169, ids shortened; for Claude Code written from its published typings (not run). */
const pre = {
  'claude-code': {
    session_id: 's1',
    transcript_path: '/home/u/.claude/t.jsonl',
    cwd: '/w',
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'cat .env', description: 'Reads.' },
    tool_use_id: 'toolu_1',
  },
  codex: {
    session_id: 's1',
    turn_id: 't1',
    transcript_path: '/home/u/.codex/rollout.jsonl',
    cwd: '/w',
    hook_event_name: 'PreToolUse',
    model: 'gpt-5.5',
    permission_mode: 'bypassPermissions',
    tool_name: 'Bash',
    tool_input: { command: 'cat .env' },
    tool_use_id: 'call_2',
  },
} as const;

const policy: Policy = definePolicy({
  name: 'table',
  check: ({ facts }) => {
    if (facts?.reads.some(({ path }) => path.endsWith('/.env'))) return deny('It reads a secret.');
    return facts?.runs.some(({ program }) => program === 'git') ? ask('It pushes.') : allow;
  },
});

function hookOf(agent: Agent): { run(event: object | string): Promise<HookAnswer>; readonly guard: Guard } {
  const session = createSession({ store: memoryStore() });
  const facts = createFacts({ describers: agent.describers, view: { folder: '/', workspace: '/' } });
  const guard = createGuard({ session, policies: [policy], facts });
  return {
    guard,
    run: (event) =>
      runHook(agent, typeof event === 'string' ? event : JSON.stringify(event), () => Promise.resolve(guard)),
  };
}

const bash = (command: string) => ({ tool_input: { command }, tool_use_id: `call ${command}` });
const decision = (permissionDecision: string, permissionDecisionReason: unknown) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
});
const waits = expect.stringContaining('A person has to approve this in Holdfast first');

describe.each(['claude-code', 'codex'] as const)('%s', (name) => {
  const agent = agents[name];

  test('gets no output for an allowed call, so its own prompts stay on', async () => {
    expect(await hookOf(agent).run({ ...pre[name], ...bash('ls') })).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  });

  test('gets a denial in exactly the fields it reads', async () => {
    const { stdout, stderr, exitCode } = await hookOf(agent).run(pre[name]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(JSON.parse(stdout)).toEqual(decision('deny', 'Denied: It reads a secret.'));
  });

  test.each<[string, string | object]>([
    ['nothing', ''],
    ['no JSON', 'PreToolUse'],
    ['a list', '[]'],
    ['a cut text', JSON.stringify(pre[name]).slice(0, -5)],
    ['two equal keys', '{"session_id":"a","session_id":"b"}'],
    ['a prototype', '{"__proto__":{},"session_id":"a"}'],
    ['no session', { ...pre[name], session_id: undefined }],
    ['no event', { ...pre[name], hook_event_name: 7 }],
    ['no id', { ...pre[name], tool_use_id: undefined }],
    ['no input', { ...pre[name], tool_input: null }],
    ['an input that is a list', { ...pre[name], tool_input: ['cat', '.env'] }],
    ['no folder', { ...pre[name], cwd: undefined }],
    ['depth', `{"tool_input":${'['.repeat(1000)}${']'.repeat(1000)}}`],
  ])('gets exit code 2 and a reason when the input is %s', async (_, event) => {
    const answer = await hookOf(agent).run(event);
    expect(answer).toMatchObject({ stdout: '', exitCode: 2 });
    expect(answer.stderr).toMatch(/^Holdfast could not decide this call, so it is denied: .+\n$/s);
  });

  test('gets exit code 2 when the guard cannot be opened', async () => {
    const answer = await runHook(agent, JSON.stringify(pre[name]), () =>
      Promise.reject(new Error('The disk is full.')),
    );
    expect(answer).toEqual({
      stdout: '',
      stderr: 'Holdfast could not decide this call, so it is denied: The disk is full.\n',
      exitCode: 2,
    });
  });

  test('still sees its result when the report cannot be recorded', async () => {
    const event = { ...pre[name], hook_event_name: 'PostToolUse', tool_response: 'text' };
    const answer = await runHook(agent, JSON.stringify(event), () => Promise.reject(new Error('The disk is full.')));
    expect(answer).toMatchObject({ stdout: '', exitCode: 0 });
  });

  test('gets no answer to events that a guard ignores', async () => {
    expect(await hookOf(agent).run({ ...pre[name], hook_event_name: 'Stop' })).toEqual({
      stdout: '',
      stderr: '',
      exitCode: 0,
    });
  });
});

test.each([
  ['default', 'ask', 'It pushes.'],
  ['acceptEdits', 'ask', 'It pushes.'],
  ['plan', 'ask', 'It pushes.'],
  ['bypassPermissions', 'deny', waits],
  ['auto', 'deny', waits],
  ['dontAsk', 'deny', waits],
  ['a new mode', 'deny', waits],
  [undefined, 'deny', waits],
])('claude-code: a question in the mode %s is `%s`', async (permission_mode, type, reason) => {
  const { stdout } = await hookOf(claudeCode).run({ ...pre['claude-code'], ...bash('git push'), permission_mode });
  expect(JSON.parse(stdout)).toEqual(decision(type, reason));
});

test('codex: a question is a denial, since an ask lets the call through', async () => {
  const { stdout } = await hookOf(codex).run({ ...pre.codex, ...bash('git push') });
  expect(JSON.parse(stdout)).toEqual(decision('deny', waits));
});

describe('the event after a call reports', () => {
  const claude = { ...pre['claude-code'], ...bash('ls') };
  const shell = { ...pre.codex, ...bash('ls') };
  const patch = {
    ...pre.codex,
    tool_name: 'apply_patch',
    tool_input: { command: '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch' },
  };
  const mcp = { ...pre.codex, tool_name: 'mcp__rig__echo', tool_input: { text: 'hi' } };
  const background = { tool_input: { command: 'ls', run_in_background: true } };
  test.each<[string, Agent, object, object, string]>([
    ['claude-code: a success', claudeCode, claude, { tool_response: { stdout: 'a' } }, 'ok'],
    ['claude-code: started only', claudeCode, { ...claude, ...background }, { tool_response: {} }, 'in-doubt'],
    ['claude-code: a failure', claudeCode, claude, { hook_event_name: 'PostToolUseFailure', error: 'no' }, 'failed'],
    ['claude-code: denied by its person', claudeCode, claude, { hook_event_name: 'PermissionDenied' }, 'cancelled'],
    ['claude-code: another input', claudeCode, claude, { tool_input: { command: 'ls -l' } }, 'failed'],
    ['codex: a command without an exit code', codex, shell, { tool_response: 'a.txt\n' }, 'in-doubt'],
    ['codex: a patch', codex, patch, { tool_response: 'Exit code: 0\nWall time: 1\nSuccess.' }, 'ok'],
    ['codex: a patch that failed', codex, patch, { tool_response: 'Exit code: 1\n' }, 'failed'],
    ['codex: a server tool', codex, mcp, { tool_response: { content: [] } }, 'ok'],
    ['codex: a server tool that failed', codex, mcp, { tool_response: { isError: true, content: [] } }, 'failed'],
  ])('%s', async (_, agent, event, more, kind) => {
    const session = createSession({ store: memoryStore() });
    const guard = createGuard({ session, policies: [] });
    const run = (input: object) => runHook(agent, JSON.stringify(input), () => Promise.resolve(guard));
    await run(event);
    expect(await run({ ...event, hook_event_name: 'PostToolUse', ...more })).toMatchObject({ stdout: '', exitCode: 0 });
    const ended = [...session.records()].filter(({ type }) => type === 'tool-call-end');
    expect(ended).toMatchObject([{ outcome: { kind } }]);
  });

  test('a long result is kept as its length and beginning', async () => {
    const session = createSession({ store: memoryStore() });
    const guard = createGuard({ session, policies: [] });
    const run = (input: object) => runHook(claudeCode, JSON.stringify(input), () => Promise.resolve(guard));
    await run(claude);
    await run({ ...claude, hook_event_name: 'PostToolUse', tool_response: 'x'.repeat(100_000) });
    const ended = [...session.records()].find(({ type }) => type === 'tool-call-end');
    expect(ended).toMatchObject({ outcome: { value: { length: 100_000, begins: 'x'.repeat(2048) } } });
  });

  test('a prompt ends what was not reported, and the end of the session too', async () => {
    const session = createSession({ store: memoryStore() });
    const guard = createGuard({ session, policies: [] });
    const run = (input: object) => runHook(claudeCode, JSON.stringify(input), () => Promise.resolve(guard));
    await run(claude);
    await run({ ...claude, hook_event_name: 'UserPromptSubmit', prompt: 'Go on.' });
    await run({ ...claude, ...bash('pwd') });
    await run({ ...claude, hook_event_name: 'SessionEnd', reason: 'exit' });
    const ended = [...session.records()].filter(({ type }) => type === 'tool-call-end');
    expect(ended).toMatchObject([
      { outcome: { kind: 'in-doubt', code: 'guard.unreported' } },
      { outcome: { kind: 'in-doubt', code: 'guard.unreported' } },
    ]);
  });
});

test.each([claudeCode, codex])(
  '$name: a prompt for a sub-agent ends no call and does not replace the request of the person',
  async (agent) => {
    const session = createSession({ store: memoryStore() });
    const requests: (string | undefined)[] = [];
    const noting = definePolicy({
      name: 'noting',
      check: (_, { request }) => {
        requests.push(request);
        return allow;
      },
    });
    const guard = createGuard({ session, policies: [noting] });
    const run = (input: object) =>
      runHook(agent, JSON.stringify({ ...pre[agent.name as 'codex'], ...input }), () => Promise.resolve(guard));
    await run({ hook_event_name: 'UserPromptSubmit', prompt: 'Do it.' });
    await run(bash('ls'));
    await run({ hook_event_name: 'UserPromptSubmit', prompt: 'Delete it.', agent_id: 'a1', agent_type: 'worker' });
    await run(bash('pwd'));
    expect(session.openWork().calls).toHaveLength(2);
    expect(requests).toEqual(['Do it.', 'Do it.']);
  },
);

describe('the tools of the agents are known', () => {
  const view = { folder: '/w', workspace: '/w' };
  test.each<[Agent, string, object, object]>([
    [claudeCode, 'Read', { file_path: '/w/.env' }, { reads: [{ path: '/w/.env' }] }],
    [claudeCode, 'Edit', { file_path: '/w/a', old_string: 'a', new_string: 'b' }, { writes: [{ path: '/w/a' }] }],
    [claudeCode, 'NotebookEdit', { notebook_path: '/w/a.ipynb' }, { writes: [{ path: '/w/a.ipynb' }] }],
    [claudeCode, 'WebFetch', { url: 'https://x.test/a' }, { hosts: [{ host: 'x.test' }] }],
    [claudeCode, 'TodoWrite', { todos: [] }, { unclear: [], writes: [] }],
    [claudeCode, 'mcp__files__read_file', { path: '.env' }, { reads: [{ path: '/w/.env' }], untrusted: true }],
    [
      codex,
      'apply_patch',
      { command: '*** Begin Patch\n*** Delete File: a\n*** End Patch' },
      { deletes: [{ path: '/w/a' }] },
    ],
    [codex, 'view_image', { path: 'a.png' }, { reads: [{ path: '/w/a.png' }] }],
    [codex, 'spawn_agent', { message: 'x' }, { unclear: [] }],
    [claudeCode, 'NewTool', {}, { unclear: [{ kind: 'tool' }] }],
  ])('%#: $1', (agent, tool, input, facts) => {
    const source = createFacts({ describers: agent.describers, view });
    const call = { id: '1', tool: { name: tool }, input } as never;
    expect(source.describe(call, view)).toMatchObject(facts);
  });
});
