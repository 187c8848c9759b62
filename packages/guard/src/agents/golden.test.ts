import { readFileSync } from 'node:fs';
import { createFacts, memoryDisk } from '@holdfast/facts';
import { createSession, memoryStore } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { type Agent, gemini, opencode, pi, runHook } from '../agents.ts';
import { createGuard } from '../index.ts';

// Events that these agents sent to a hook in one run each, against a scripted model: paths and ids shortened, nothing else.
const read = (name: string): readonly string[] =>
  readFileSync(new URL(`golden/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
const golden: readonly (readonly [Agent, readonly string[]])[] = [
  [gemini, read('gemini-0.61.0')],
  [pi, read('pi-1.6.0')],
  [opencode, read('opencode-1.18.33')],
];

/** The events of a run, in short. */
function tell(agent: Agent, text: string): string {
  const { sessionId, cwd, event } = agent.readHook(text);
  expect({ cwd, sessionId: sessionId !== '' }).toEqual({ cwd: '/w', sessionId: true });
  switch (event.type) {
    case 'before':
      return `before ${event.call.name} ${JSON.stringify(event.call.input)}`;
    case 'after':
      return `after ${event.call.name}: ${event.report.ok}`;
    case 'prompt':
      return `prompt ${event.request}`;
    default:
      return event.type;
  }
}

test('gemini: each event of a real run is understood', () => {
  const [, lines = []] = golden[0] ?? [];
  expect(lines.map((line) => tell(gemini, line))).toEqual([
    'other',
    'prompt Look at @a.txt please',
    'before read_file {"file_path":"a.txt"}',
    'after read_file: true',
    'before replace {"file_path":"a.txt","old_string":"hi","new_string":"hello","instruction":"x"}',
    'after replace: true',
    'before write_file {"file_path":"new.txt","content":"x"}',
    'after write_file: true',
    'before mcp__files__read_file {"path":"a.txt"}',
    'after mcp__files__read_file: true',
    'before run_shell_command {"command":"false"}',
    'after run_shell_command: false',
    'before run_shell_command {"command":"sleep 5","is_background":true}',
    'after run_shell_command: unknown',
    'before read_file {"file_path":"missing.txt"}',
    'after read_file: false',
    'before run_shell_command {"command":"sleep 1; echo p1"}',
    'before run_shell_command {"command":"sleep 1; echo p1"}',
    'after run_shell_command: true',
    'after run_shell_command: true',
    'before run_shell_command {"command":"ls","dir_path":"sub"}',
    'after run_shell_command: true',
    'before grep_search {"pattern":"h","dir_path":"sub","include_pattern":"*.ts"}',
    'after grep_search: true',
    'before glob {"pattern":"*"}',
    'after glob: true',
    'before web_fetch {"prompt":"say http://127.0.0.1:1/x now"}',
    'after web_fetch: false',
    'before invoke_agent {"agent_name":"generalist","prompt":"SUBDO it"}',
    // Of the sub-agent.
    'before run_shell_command {"command":"echo insub"}',
    'after run_shell_command: true',
    'after invoke_agent: true',
    'end',
  ]);
});

test('pi: each event of a real run is understood', () => {
  const [, lines = []] = golden[1] ?? [];
  expect(lines.map((line) => tell(pi, line))).toEqual([
    'prompt read it',
    'before read {"path":"a.txt"}',
    'after read: true',
    'before edit {"path":"a.txt","edits":[{"oldText":"hi","newText":"hello"}]}',
    'after edit: true',
    'before write {"path":"n.txt","content":"x"}',
    'after write: true',
    'before bash {"command":"false"}',
    'after bash: false',
    'before bash {"command":"sleep 1; echo p1"}',
    'before bash {"command":"sleep 1; echo p1"}',
    'after bash: true',
    'after bash: true',
    'before mcp__files__read_file {"path":"a.txt"}',
    'after mcp__files__read_file: true',
    'before read {"path":"missing"}',
    'after read: false',
    'before grep {"pattern":"h"}',
    'after grep: false',
    'before find {"pattern":"*"}',
    'after find: false',
    'before ls {}',
    'after ls: true',
    `before codemode {"code":"const r = await tools.bash({command:'echo INCODE'}); text(r.output)"}`,
    // Of the script.
    'before bash {"command":"echo INCODE"}',
    'after bash: true',
    'after codemode: true',
    'end',
  ]);
});

test('opencode: each event of a real run is understood', () => {
  const [, lines = []] = golden[2] ?? [];
  expect(lines.map((line) => tell(opencode, line).replace(/ \{"tool":"\w+","error":.+/, ''))).toEqual([
    'prompt "Look at @a.txt please"',
    'before read {"filePath":"a.txt"}',
    'after read: true',
    'before edit {"filePath":"a.txt","oldString":"hi","newString":"hello"}',
    'after edit: true',
    'before write {"filePath":"/w/new.txt","content":"x"}',
    'after write: true',
    'before bash {"command":"false","description":"d"}',
    'after bash: false',
    'before bash {"command":"pwd","workdir":"/w/sub","description":"d"}',
    'after bash: true',
    // Stopped at its timeout.
    'before bash {"command":"sleep 9","timeout":500,"description":"d"}',
    'after bash: unknown',
    // A tool that throws is not reported.
    'before read {"filePath":"missing.txt"}',
    'before bash {"command":"sleep 1; echo p1","description":"d"}',
    'before bash {"command":"sleep 1; echo p1","description":"d"}',
    'after bash: true',
    'after bash: true',
    'before webfetch {"url":"http://127.0.0.1:1/x","format":"text"}',
    'before todowrite {"todos":[{"content":"a","status":"pending","priority":"low","id":"1"}]}',
    'after todowrite: true',
    'before mcp__files__read_file {"path":"a.txt"}',
    'after mcp__files__read_file: true',
    'before mcp__files__read_file {"path":"missing"}',
    // Tools that do not exist.
    'before invalid',
    'after invalid: true',
    'before invalid',
    'after invalid: true',
    'before task {"description":"sub","prompt":"SUBDO it","subagent_type":"general"}',
    // Of the sub-agent.
    'other',
    'before bash {"command":"echo INSUB","description":"d"}',
    'after bash: true',
    'after task: true',
    'end',
  ]);
});

test.each<[string, readonly string[], string]>([
  ['files_read', ['files'], 'mcp__files__read'],
  ['my_files_read', ['my.files'], 'mcp__my.files__read'],
  // Of either server.
  ['a_b_read', ['a', 'a_b'], 'a_b_read'],
  ['files_', ['files'], 'files_'],
  ['bash', ['files'], 'bash'],
])('opencode: the tool %s with the servers %j is %s', (tool, mcp_servers, name) => {
  const event = { tool, callID: 'c', args: {} };
  const fields = { hook_event_name: 'tool.execute.before', session_id: 's', cwd: '/w', mcp_servers, event };
  expect(opencode.readHook(JSON.stringify(fields)).event).toMatchObject({ type: 'before', call: { name } });
});

test('opencode: the prompt is what a person typed, without files and texts of a program', () => {
  const parts = [
    { type: 'text', text: 'Look.' },
    { type: 'text', text: 'Called the Read tool', synthetic: true },
    { type: 'file', url: 'file:///w/a.txt' },
    null,
  ];
  const fields = { hook_event_name: 'chat.message', session_id: 's', cwd: '/w', event: { parts } };
  expect(opencode.readHook(JSON.stringify(fields)).event).toEqual({ type: 'prompt', request: 'Look.' });
});

describe.each(golden)('$name', (agent, lines) => {
  const open = (policies: Parameters<typeof createGuard>[0]['policies'] = []) => {
    const session = createSession({ store: memoryStore() });
    const guard = createGuard({ session, policies });
    return { session, run: (line: string) => runHook(agent, line, () => Promise.resolve(guard)) };
  };

  test('a guard without policies is silent in a whole run, and its log has the end of every call', async () => {
    const { session, run } = open();
    for (const line of lines) expect(await run(line)).toEqual({ stdout: '', stderr: '', exitCode: 0 });
    const calls = lines.filter((line) => agent.readHook(line).event.type === 'before');
    const ended = [...session.records()].filter(({ type }) => type === 'tool-call-end');
    expect(ended).toHaveLength(calls.length);
    expect(session.openWork().calls).toEqual([]);
  });

  test.each(['deny', 'ask'] as const)('a verdict `%s` is a denial with a reason, on stdout alone', async (type) => {
    const policy = { name: 'no', id: 'no', mentions: [], check: () => ({ type, reason: 'It must not.' }) } as never;
    const { run } = open([policy]);
    const before = lines.find((line) => agent.readHook(line).event.type === 'before') ?? '';
    const { stdout, stderr, exitCode } = await run(before);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const reason =
      type === 'deny' ? 'Denied: It must not.' : expect.stringMatching(/^A person has to approve this.+It must not\.$/);
    expect(JSON.parse(stdout)).toEqual({ decision: 'deny', reason });
  });

  test('a call that cannot be read is denied with exit code 2', async () => {
    const before = lines.find((line) => agent.readHook(line).event.type === 'before') ?? '';
    for (const text of [
      '',
      '[]',
      before.slice(0, -5),
      before.replace('"cwd"', '"cd"'),
      before.replaceAll('"session_id"', '"id"'),
    ]) {
      const answer = await open().run(text);
      expect(answer).toMatchObject({ stdout: '', exitCode: 2 });
      expect(answer.stderr).toMatch(/^Holdfast could not decide this call, so it is denied: .+\n$/s);
    }
  });
});

test.each<[string, object, unknown]>([
  ['cut off by a summary', { llmContent: 'It went well.' }, 'unknown'],
  ['cancelled', { llmContent: 'Command was cancelled by user before it could complete.' }, 'unknown'],
  ['with processes left', { llmContent: 'Output: a\nBackground PIDs: 7\nProcess Group PGID: 6' }, 'unknown'],
  ['ended by a signal', { llmContent: 'Output: a\nSignal: 9\nProcess Group PGID: 6' }, false],
  [
    'that prints such an end',
    { llmContent: 'Output: a\nProcess Group PGID: 6\nb\nExit Code: 1\nProcess Group PGID: 7' },
    false,
  ],
  ['with other lines of that kind', { llmContent: 'Output: Error: x\nExit Code: 1\nb\nProcess Group PGID: 7' }, true],
  ['with an error', { llmContent: 'Output: a\nProcess Group PGID: 6', error: { message: 'no' } }, false],
])('gemini: a command %s is reported as it is known', (_, tool_response, ok) => {
  const fields = { session_id: 's', cwd: '/w', hook_event_name: 'AfterTool', tool_name: 'run_shell_command' };
  const { event } = gemini.readHook(JSON.stringify({ ...fields, tool_input: { command: 'x' }, tool_response }));
  expect(event).toMatchObject({ type: 'after', report: { ok } });
});

test.each<[object, string]>([
  [{ text: 'Stop.', source: 'interactive', streamingBehavior: 'steer' }, 'other'],
  [{ text: 'Stop.', source: 'extension' }, 'other'],
  [{ text: 'Go.', source: 'rpc' }, 'prompt'],
])('pi: the input %j is %s', (event, type) => {
  const text = JSON.stringify({ hook_event_name: 'input', session_id: 's', cwd: '/w', event });
  expect(pi.readHook(text).event.type).toBe(type);
});

const view = {
  folder: '/w',
  workspace: '/w',
  home: '/home/u',
  disk: memoryDisk({ '/w/.env': '', '/w/a.txt': '', '/w/sub/b.txt': '', '/w/.gemini/settings.json': '' }),
};
const env = [expect.objectContaining({ path: '/w/.env' })];

test.each<[Agent, string, object, object]>([
  [
    gemini,
    'run_shell_command',
    { command: 'cat b.txt', dir_path: 'sub' },
    { reads: [{ path: '/w/sub/b.txt' }], unclear: [] },
  ],
  [gemini, 'read_file', { file_path: 'a.txt' }, { reads: [{ path: '/w/a.txt' }], unclear: [] }],
  [gemini, 'read_file', { file_path: '%2eenv' }, { reads: expect.arrayContaining(env) }],
  [gemini, 'read_file', { file_path: '%252eenv' }, { reads: expect.arrayContaining(env) }],
  [gemini, 'read_file', { file_path: '@.env' }, { reads: expect.arrayContaining(env) }],
  [gemini, 'read_file', { file_path: '.e\u0000nv' }, { reads: expect.arrayContaining(env) }],
  [
    gemini,
    'write_file',
    { file_path: '.gemini/settings%2Ejson', content: '' },
    { writes: expect.arrayContaining([expect.objectContaining({ path: '/w/.gemini/settings.json' })]) },
  ],
  [
    gemini,
    'replace',
    { file_path: 'a.txt', old_string: 'a', new_string: 'b' },
    { writes: [{ path: '/w/a.txt' }], unclear: [] },
  ],
  [
    gemini,
    'replace',
    { file_path: 'settings.json', old_string: 'a', new_string: 'b' },
    { unclear: [{ kind: 'words', use: 'writes' }] },
  ],
  [
    gemini,
    'grep_search',
    { pattern: 'x', dir_path: 'sub' },
    { reads: [{ path: '/w/sub', recursive: {} }], unclear: [] },
  ],
  [gemini, 'grep_search', { pattern: 'x', no_ignore: true }, { unclear: [{ kind: 'words' }] }],
  [gemini, 'read_many_files', { include: ['**'] }, { unclear: [{ kind: 'tool' }] }],
  [
    gemini,
    'web_fetch',
    { prompt: 'Sum up https://x.test/a and https://y.test/b.' },
    { hosts: [{ host: 'x.test' }, { host: 'y.test' }], unclear: [] },
  ],
  [gemini, 'web_fetch', { prompt: 'Sum up.' }, { unclear: [{ kind: 'words' }] }],
  [gemini, 'mcp__files__read_file', { path: '.env' }, { reads: env, untrusted: true }],
  [gemini, 'write_todos', { todos: [] }, { unclear: [] }],
  [gemini, 'new_tool', {}, { unclear: [{ kind: 'tool' }] }],
  [pi, 'bash', { command: 'cat .env' }, { reads: env }],
  [pi, 'read', { path: '@.env' }, { reads: env }],
  [pi, 'read', { path: '@~/.ssh/id_rsa' }, { reads: [{ path: '/home/u/.ssh/id_rsa' }] }],
  [pi, 'write', { path: 'my\u00A0file', content: '' }, { writes: [{ path: '/w/my file' }] }],
  [pi, 'read', { path: "caf\u00E9's" }, { reads: [{}, {}, {}, { path: '/w/cafe\u0301\u2019s' }] }],
  [pi, 'edit', { path: 'a.txt', edits: [] }, { writes: [{ path: '/w/a.txt' }] }],
  [pi, 'grep', { pattern: 'x', path: '@sub' }, { reads: [{ path: '/w/sub' }] }],
  [pi, 'find', { pattern: '*' }, { reads: [], unclear: [] }],
  [pi, 'codemode', { code: 'x' }, { unclear: [] }],
  [pi, 'mcp__files__read_file', { path: '.env' }, { reads: env, untrusted: true }],
  [pi, 'subagent', {}, { unclear: [{ kind: 'tool' }] }],
  [opencode, 'bash', { command: 'cat b.txt', workdir: 'sub' }, { reads: [{ path: '/w/sub/b.txt' }], unclear: [] }],
  [opencode, 'read', { filePath: '.env' }, { reads: env, unclear: [] }],
  [opencode, 'edit', { filePath: 'a.txt' }, { writes: [{ path: '/w/a.txt' }], unclear: [] }],
  [opencode, 'grep', { pattern: 'x', path: 'sub' }, { reads: [{ path: '/w/sub' }] }],
  [
    opencode,
    'apply_patch',
    { patchText: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch' },
    { deletes: [{ path: '/w/a.txt' }] },
  ],
  [opencode, 'webfetch', { url: 'https://x.test/a' }, { hosts: [{ host: 'x.test' }] }],
  [opencode, 'mcp__files__read_file', { path: '.env' }, { reads: env, untrusted: true }],
  [opencode, 'task', {}, { unclear: [] }],
  [opencode, 'new_tool', {}, { unclear: [{ kind: 'tool' }] }],
])('%#: $1 %j', (agent, tool, input, facts) => {
  const source = createFacts({ describers: agent.describers, view });
  expect(source.describe({ id: '1', tool: { name: tool }, input } as never, view)).toMatchObject(facts);
});
