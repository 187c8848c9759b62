import {
  allow,
  definePack,
  definePlugin,
  definePolicy,
  defineSlice,
  defineTool,
  isHoldfastError,
} from '@holdfast/core';
import {
  createBudget,
  executeToolCall,
  openCaller,
  recoverSession,
  resumeRun,
  resumeToolCall,
  runAgent,
} from '@holdfast/executor';
import {
  allowTools,
  callBudget,
  denyTools,
  pathScope,
  rateLimit,
  readBeforeWrite,
  requireApproval,
  requireArguments,
  sequentialDependency,
} from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';

// As JavaScript may call them.
type Loose = (...given: readonly unknown[]) => unknown;
const loose = (made: unknown): Loose => made as Loose;

const session = createSession();
const tool = defineTool({ name: 'look', description: 'Looks.', effects: 'none', execute: () => 1 });
const tools = [tool];
const call = { name: 'look', arguments: '' };
const policy = definePolicy({ name: 'p', check: () => allow });
const prompt = createPrompt({
  ns: 'a',
  key: 'b',
  sections: [markdownSection({ title: 'S', template: 'Work.', tools })],
});
const model = scriptedModel([]);
const run = { model, prompt, session, input: 'Go.' };
const named = { name: 'x', description: 'X.' };

interface Wrong {
  readonly what: string;
  readonly use: () => unknown;
  /** In the message. */
  readonly says: string;
  /** Default `options.invalid`. */
  readonly code?: string;
}

const wrongUses: readonly Wrong[] = [
  { what: 'defineTool()', use: () => loose(defineTool)(), says: 'one object, got nothing' },
  {
    what: 'defineTool without a description',
    use: () => loose(defineTool)({ name: 'x' }),
    says: 'needs `description` as text',
  },
  {
    what: 'defineTool({ name: 5 })',
    use: () => loose(defineTool)({ ...named, name: 5 }),
    says: 'needs `name` as text',
  },
  { what: 'execute: 5', use: () => loose(defineTool)({ ...named, execute: 5 }), says: 'needs `execute` as a function' },
  { what: 'effect: none', use: () => loose(defineTool)({ ...named, effect: 'none' }), says: 'did you mean `effects`?' },
  {
    what: 'inputschema',
    use: () => loose(defineTool)({ ...named, inputschema: {} }),
    says: 'did you mean `inputSchema`?',
  },
  {
    what: 'parameters',
    use: () => loose(defineTool)({ ...named, parameters: {} }),
    says: 'has no option `parameters`',
  },
  {
    what: 'examples: {}',
    use: () => loose(defineTool)({ ...named, examples: {} }),
    says: 'needs `examples` as a list',
  },
  { what: 'dangerous: yes', use: () => loose(defineTool)({ ...named, dangerous: 'yes' }), says: 'true or false' },
  { what: 'definePolicy()', use: () => loose(definePolicy)(), says: 'one object' },
  {
    what: 'definePolicy without check',
    use: () => loose(definePolicy)({ name: 'x' }),
    says: '`check`',
    code: 'policy.invalid',
  },
  {
    what: 'onresult',
    use: () => loose(definePolicy)({ ...policy, onresult: () => 1 }),
    says: 'did you mean `onResult`?',
  },
  {
    what: 'definePolicy({ tools: look })',
    use: () => loose(definePolicy)({ ...policy, tools: 'look' }),
    says: '`tools` as a list',
  },
  { what: 'defineSlice()', use: () => loose(defineSlice)(), says: 'one object' },
  { what: 'defineSlice without a kind', use: () => loose(defineSlice)({ id: 'x', reducers: {} }), says: '`kind`' },
  {
    what: 'defineSlice of no kind',
    use: () => loose(defineSlice)({ id: 'x', kind: 'set', reducers: {} }),
    says: '`kind`',
    code: 'slice.invalid',
  },
  {
    what: 'a reducer that is none',
    use: () => loose(defineSlice)({ id: 'x', kind: 'list', reducers: { a: 5 } }),
    says: 'reducer `a`',
    code: 'slice.invalid',
  },
  { what: 'definePlugin()', use: () => loose(definePlugin)(), says: 'one object' },
  { what: 'definePack()', use: () => loose(definePack)(), says: 'one object' },
  { what: 'createPrompt()', use: () => loose(createPrompt)(), says: 'one object' },
  {
    what: 'createPrompt({ section })',
    use: () => loose(createPrompt)({ ns: 'a', key: 'b', section: [] }),
    says: 'did you mean `sections`?',
  },
  { what: 'markdownSection()', use: () => loose(markdownSection)(), says: 'one object' },
  {
    what: 'markdownSection({ tools: look })',
    use: () => loose(markdownSection)({ title: 'A', template: '', tools: tool }),
    says: '`tools` as a list',
  },
  { what: 'createSession(5)', use: () => loose(createSession)(5), says: 'one object' },
  {
    what: 'createSession({ store: {} })',
    use: () => loose(createSession)({ store: {} }),
    says: '`append` as a function',
  },
  { what: 'createBudget()', use: () => loose(createBudget)(), says: 'one object' },
  {
    what: 'createBudget({ maxcalls })',
    use: () => loose(createBudget)({ maxcalls: 1 }),
    says: 'did you mean `maxCalls`?',
  },
  { what: 'executeToolCall()', use: () => loose(executeToolCall)(), says: 'A call must be' },
  { what: 'executeToolCall without options', use: () => loose(executeToolCall)(call), says: 'one object' },
  {
    what: 'executeToolCall without a session',
    use: () => loose(executeToolCall)(call, { tools }),
    says: 'needs `session`',
  },
  {
    what: 'executeToolCall without tools',
    use: () => loose(executeToolCall)(call, { session }),
    says: 'needs `tools`',
  },
  {
    what: 'a session that is none',
    use: () => loose(executeToolCall)(call, { tools, session: {} }),
    says: '`createSession`',
  },
  {
    what: 'a tool that is none',
    use: () => loose(executeToolCall)(call, { tools: [5], session }),
    says: '`defineTool`',
  },
  {
    what: 'a policy that is none',
    use: () => loose(executeToolCall)(call, { tools, session, policies: [{}] }),
    says: '`definePolicy`',
  },
  {
    what: 'policies: a policy',
    use: () => loose(executeToolCall)(call, { tools, session, policies: policy }),
    says: '`policies` as a list',
  },
  {
    what: 'approve: true',
    use: () => loose(executeToolCall)(call, { tools, session, approve: true }),
    says: '`approve` as a function',
  },
  { what: 'openCaller()', use: () => loose(openCaller)(), says: 'one object' },
  { what: 'resumeToolCall without options', use: () => loose(resumeToolCall)('a'), says: 'one object' },
  { what: 'recoverSession()', use: () => loose(recoverSession)(), says: 'one object' },
  { what: 'runAgent()', use: () => loose(runAgent)(), says: 'one object' },
  {
    what: 'runAgent without input',
    use: () => loose(runAgent)({ ...run, input: undefined }),
    says: 'needs `input` as text',
  },
  { what: 'runAgent without a model', use: () => loose(runAgent)({ ...run, model: undefined }), says: 'needs `model`' },
  {
    what: 'runAgent({ model: name })',
    use: () => loose(runAgent)({ ...run, model: 'x:y' }),
    says: 'needs `model` as an object',
  },
  { what: 'a model that is none', use: () => loose(runAgent)({ ...run, model: {} }), says: '`stream` as a function' },
  {
    what: 'runAgent without a prompt',
    use: () => loose(runAgent)({ ...run, prompt: {} }),
    says: '`render` as a function',
  },
  {
    what: 'runAgent({ maxRound })',
    use: () => loose(runAgent)({ ...run, maxRound: 2 }),
    says: 'did you mean `maxRounds`?',
  },
  { what: 'resumeRun()', use: () => loose(resumeRun)(), says: 'one object' },
  {
    what: 'requireApproval({ if })',
    use: () => loose(requireApproval)({ tools: ['a'], if: () => true }),
    says: 'has no option `if`',
  },
  {
    what: 'requireApproval({ reasons })',
    use: () => loose(requireApproval)({ tools: ['a'], reasons: 'x' }),
    says: 'did you mean `reason`?',
  },
  { what: 'callBudget({ maxCall })', use: () => loose(callBudget)({ maxCall: 1 }), says: 'did you mean `maxCalls`?' },
  { what: 'callBudget()', use: () => loose(callBudget)(), says: 'one object' },
  {
    what: 'rateLimit({ tool })',
    use: () => loose(rateLimit)({ maxCalls: 1, perMs: 1, tool: ['a'] }),
    says: 'did you mean `tools`?',
  },
  { what: 'pathScope({ writes })', use: () => loose(pathScope)({ writes: ['a'] }), says: 'did you mean `write`?' },
  {
    what: 'readBeforeWrite({ writer })',
    use: () => loose(readBeforeWrite)({ writer: [] }),
    says: 'did you mean `writers`?',
  },
  {
    what: 'allowTools(…, { Reason })',
    use: () => loose(allowTools)([], { Reason: 'x' }),
    says: 'did you mean `reason`?',
  },
  { what: 'denyTools(…, text)', use: () => loose(denyTools)(['a'], 'No.'), says: 'one object' },
  {
    what: 'requireArguments(…, { message })',
    use: () => loose(requireArguments)('a', () => true, { message: 'x' }),
    says: 'no option `message`',
  },
  {
    what: 'sequentialDependency(…, { name })',
    use: () => loose(sequentialDependency)({ a: ['b'] }, { name: 'x' }),
    says: 'no option `name`',
  },
];

test.each(wrongUses)('wrong use from JavaScript is refused, with what is wrong: $what', async ({ use, says, code }) => {
  let thrown: unknown;
  try {
    const made: unknown = await use();
    // A run is not awaited by itself.
    if (typeof made === 'object' && made !== null && 'result' in made) await made.result;
  } catch (error) {
    thrown = error;
  }
  expect(isHoldfastError(thrown) ? thrown.code : thrown).toBe(code ?? 'options.invalid');
  expect(String(thrown)).toContain(says);
});

test('options that several runners share may be more than one of them takes', async () => {
  const shared = { tools, session: createSession(), policies: [policy], note: 'ours' };
  expect(await executeToolCall(call, shared)).toMatchObject({ kind: 'ok' });
  const all = { ...shared, model: scriptedModel([{ text: 'Done.' }]), prompt, input: 'Go.' };
  expect(await runAgent(all).result).toMatchObject({ status: 'completed' });
});

test('a tool and a policy may be made anew of another one', () => {
  expect(defineTool({ ...tool, name: 'see' } as Parameters<typeof defineTool>[0]).name).toBe('see');
  expect(definePolicy({ ...policy, id: 'q' }).id).toBe('q');
});
