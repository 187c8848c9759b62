import {
  definePolicy,
  defineTool,
  type Policy,
  type PolicyResult,
  type PreparedCall,
  type Tool,
  type ToolContext,
  upsert,
} from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { sequentialDependency } from '@holdfast/policy';
import { expect, test } from 'vitest';
import { callOf, denying, noContext, toolNamed } from './test-plugins.ts';
import { approveTools, filterTools, limitTools, prefixTools, renameTools, type Toolset } from './toolset.ts';

const success: PolicyResult = { value: null, message: '', touched: new Map() };
const git = [toolNamed('push'), toolNamed('tag'), toolNamed('log')];

function namesOf({ tools }: Toolset): readonly string[] {
  return tools.map(({ name }) => name);
}

function toolOf({ tools }: Toolset, name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

async function answerOf(policy: Policy | undefined, call: PreparedCall): Promise<string> {
  if (policy === undefined) throw new Error('there is no policy');
  return (await policy.check(call, noContext)).type;
}

/** A context like the executor's: a class with accessors and private fields. */
class TestContext {
  readonly #called: string[];

  constructor(called: string[]) {
    this.#called = called;
  }

  get callId(): string {
    return `id of ${this.#called.length}`;
  }

  get trace(): readonly string[] {
    return this.#called;
  }

  get call(): (name: string) => Promise<string> {
    return (name) => {
      this.#called.push(name);
      return Promise.resolve(name);
    };
  }

  get progress(): (message: string) => void {
    return (message) => void this.#called.push(message);
  }
}

/** The names that `tool` calls, and its value. */
function run(tool: Tool): { readonly called: readonly string[]; readonly value: unknown } {
  const called: string[] = [];
  // The cast stands for the executor, whose contexts have more members.
  const value: unknown = tool.execute?.({}, new TestContext(called) as unknown as ToolContext);
  return { called, value };
}

/** A tool that calls others in several ways. */
function calling(name: string, ...others: readonly string[]): Tool {
  return defineTool({
    name,
    description: 'Calls others.',
    execute(_input, context) {
      const { call, callId, progress, trace } = context;
      const known = trace?.length;
      for (const other of others) void call(other);
      progress('called');
      return { callId, known, has: 'call' in context, missing: 'other' in context };
    },
  });
}

test('a prefix is added to every name', () => {
  expect(namesOf(prefixTools(git, 'git'))).toEqual(['git_push', 'git_tag', 'git_log']);
  expect(namesOf(prefixTools(prefixTools(git, 'git'), 'my'))).toEqual(['my_git_push', 'my_git_tag', 'my_git_log']);
  expect(() => prefixTools(git, 'Git')).toThrow(
    expect.objectContaining({ code: 'registry.invalid', reason: 'prefix.invalid' }),
  );
  expect(() => prefixTools([toolNamed('x'.repeat(60))], 'prefix')).toThrow(
    expect.objectContaining({ code: 'tool.invalid', reason: 'name.invalid' }),
  );
});

test.each([
  [{ pull: 'fetch' }, 'toolset.invalid: tool.unknown'],
  [{ __proto__x: 'fetch' }, 'toolset.invalid: tool.unknown'],
  [{ push: 'tag' }, 'toolset.invalid: name.duplicate'],
  [{ push: 'send', tag: 'send' }, 'toolset.invalid: name.duplicate'],
  [{ push: 'Send' }, 'tool.invalid: name.invalid'],
  [{ push: '' }, 'tool.invalid: name.invalid'],
  [{ push: 'constructor' }, 'tool.invalid: name.reserved'],
])('renaming %j: %s', (names, code) => {
  expect(() => renameTools(git, names)).toThrow(
    expect.toSatisfy((error: { code: string }) => describeCode(error) === code),
  );
});

test('toolset.invalid: name.duplicate: tools that already share a name', () => {
  expect(() => prefixTools([toolNamed('push'), toolNamed('push')], 'git')).toThrow(
    expect.objectContaining({ code: 'toolset.invalid', reason: 'name.duplicate' }),
  );
});

test('renaming changes only the name of a tool', () => {
  const tool = defineTool({
    name: 'push',
    description: 'Push.',
    effects: 'external',
    repeat: 'keyed',
    dangerous: true,
    timeoutMs: 5,
    retry: { attempts: 3 },
    renderResult: () => 'pushed',
    locks: () => ['remote'],
    probe: () => ({ type: 'not-done' }),
    execute: () => 'pushed',
  });
  const { execute, ...renamed } = toolOf(renameTools([tool], { push: 'publish' }), 'publish');
  const { execute: before, ...rest } = tool;
  expect(renamed).toEqual({ ...rest, name: 'publish' });
  expect(execute?.({}, {} as never)).toBe(before?.({}, {} as never));
  expect(Object.isFrozen(toolOf(renameTools([tool], { push: 'publish' }), 'publish'))).toBe(true);
  const declared = defineTool({ name: 'push', description: 'Push.' });
  expect(Object.hasOwn(toolOf(prefixTools([declared], 'git'), 'git_push'), 'execute')).toBe(false);
});

test('unchanged names return the same tools', () => {
  const toolset = { tools: git, policies: [denying('order')] };
  expect(renameTools(toolset, {})).toEqual(toolset);
  expect(renameTools(toolset, {}).tools[0]).toBe(git[0]);
  expect(filterTools(toolset, () => true).policies[0]).toBe(toolset.policies[0]);
});

test('calls by own names reach the renamed tools, and the context is complete', () => {
  const tools = [calling('release', 'push', 'git_push', 'deploy', '__proto__'), toolNamed('push')];
  const { called, value } = run(toolOf(prefixTools(tools, 'git'), 'git_release'));
  expect(called).toEqual(['git_push', 'git_push', 'deploy', '__proto__', 'called']);
  // Checked before any call.
  expect(value).toEqual({ callId: 'id of 0', known: 0, has: true, missing: false });
  const twice = renameTools(prefixTools(tools, 'git'), { git_push: 'publish' });
  expect(run(toolOf(twice, 'git_release')).called).toEqual(['publish', 'publish', 'deploy', '__proto__', 'called']);
});

test('names can be swapped', () => {
  const swapped = renameTools([calling('a', 'a', 'b'), calling('b', 'a', 'b')], { a: 'b', b: 'a' });
  expect(run(toolOf(swapped, 'a')).called).toEqual(['b', 'a', 'called']);
  expect(run(toolOf(swapped, 'b')).called).toEqual(['b', 'a', 'called']);
});

test('a removed tool cannot be called by the others, even if a foreign tool has its name', () => {
  const kept = filterTools([calling('release', 'push', 'tag'), ...git], ({ name }) => name !== 'push');
  expect(namesOf(kept)).toEqual(['release', 'tag', 'log']);
  expect(run(toolOf(kept, 'release')).called).toEqual(['absent/push', 'tag', 'called']);
  // Only `true` keeps a tool.
  expect(namesOf(filterTools(git, () => 1 as never))).toEqual([]);
});

test('policies see their own tools under the old names, and no foreign tools', async () => {
  const seen: string[] = [];
  const toolset = renameTools(
    { tools: git, policies: [denying('order', seen, ['push', 'deploy'])] },
    { push: 'publish' },
  );
  const [policy] = toolset.policies;
  expect(policy?.mentions).toEqual(['publish', 'deploy']);
  for (const name of ['publish', 'push', 'tag', 'deploy']) {
    await policy?.check(callOf(name), noContext);
    policy?.onResult?.(callOf(name), success, noContext);
  }
  expect(seen).toEqual(['push', 'push!', 'elsewhere/push', 'elsewhere/push!', 'tag', 'tag!', 'deploy', 'deploy!']);
});

test('a policy gets the same object for the same call', async () => {
  const calls: PreparedCall[] = [];
  const policy = definePolicy({
    name: 'order',
    check: (call) => {
      calls.push(call);
      return { type: 'allow' };
    },
  });
  const wrapped = prefixTools(prefixTools({ tools: git, policies: [policy] }, 'git'), 'my').policies[0];
  const call = callOf('my_git_push');
  await wrapped?.check(call, noContext);
  await wrapped?.check(call, noContext);
  await wrapped?.check(callOf('my_git_push'), noContext);
  expect(calls[0]).toBe(calls[1]);
  expect(calls[2]).not.toBe(calls[1]);
  expect(calls[0]).toMatchObject({ id: 'c1', tool: { name: 'push' } });
  // The original tool.
  expect(calls[0]?.tool).toBe(git[0]);
});

test('mentions of a removed tool are dropped', () => {
  const policies = [sequentialDependency({ push: ['tag'] })];
  expect(filterTools({ tools: git, policies }, ({ name }) => name !== 'tag').policies[0]?.mentions).toEqual(['push']);
});

test('reservations use own names too', () => {
  const policy = definePolicy<string>({
    name: 'budget',
    stateKind: 'keyed',
    check: () => ({ type: 'allow' }),
    reserve: ({ tool }, { callKey }) => upsert(callKey, tool.name),
  });
  const [wrapped] = prefixTools({ tools: git, policies: [policy] }, 'git').policies;
  const answer = wrapped?.reserve?.(callOf('git_push'), { ...noContext, callKey: 'k' });
  expect(answer).toEqual(upsert('k', 'push'));
  expect(Object.hasOwn(prefixTools({ tools: git, policies: [denying('a')] }, 'git').policies[0] ?? {}, 'reserve')).toBe(
    false,
  );
});

test('requires approval for some tools, or for all', async () => {
  const all = approveTools(git);
  expect(all.policies).toMatchObject([{ id: 'approve-push-tag-log', mentions: ['push', 'tag', 'log'] }]);
  expect(await answerOf(all.policies[0], callOf('log'))).toBe('ask');
  const some = prefixTools(approveTools(git, { tools: ['push'], reason: 'Look first.', when: () => true }), 'git');
  expect(await some.policies[0]?.check(callOf('git_push'), noContext)).toEqual({ type: 'ask', reason: 'Look first.' });
  expect(await answerOf(some.policies[0], callOf('git_tag'))).toBe('allow');
  expect(await answerOf(some.policies[0], callOf('push'))).toBe('allow');
  expect(approveTools(git, { id: 'careful' }).policies[0]?.id).toBe('careful');
  expect(approveTools([]).policies).toEqual([]);
  expect(() => approveTools(git, { tools: ['pull'] })).toThrow(
    expect.objectContaining({ code: 'toolset.invalid', reason: 'tool.unknown' }),
  );
  expect(() => approveTools(git, { tools: [] })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test('a limit counts only its own tools', async () => {
  const [limit] = limitTools(git, { tools: ['push', 'tag'], maxCalls: 2 }).policies;
  const contextAt = (state: number) => ({ ...noContext, state });
  expect(limit).toMatchObject({ id: 'limit-push-tag', mentions: ['push', 'tag'] });
  expect(await limit?.check(callOf('push'), contextAt(1))).toEqual({ type: 'allow' });
  expect(await limit?.check(callOf('tag'), contextAt(2))).toMatchObject({ type: 'deny' });
  expect(await limit?.check(callOf('log'), contextAt(2))).toEqual({ type: 'allow' });
  expect(limit?.onResult?.(callOf('push'), success, contextAt(0))).toBe(1);
  expect(limit?.onResult?.(callOf('log'), success, contextAt(0))).toBeUndefined();
  const [rate] = limitTools(git, { maxCalls: 2, perMs: 1_000, id: 'slow' }).policies;
  expect(rate).toMatchObject({ name: 'rate-limit', id: 'slow', mentions: ['push', 'tag', 'log'] });
  expect(() => limitTools(git, { maxCalls: 0 })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
  expect(() => limitTools(git, { maxCalls: 1, tools: ['pull'] })).toThrow(
    expect.objectContaining({ code: 'toolset.invalid', reason: 'tool.unknown' }),
  );
});
