import {
  append,
  ask,
  type Budget,
  definePolicy,
  defineSlice,
  defineTool,
  isHoldfastError,
  type ListState,
  type Outcome,
  type Prompt,
  type Redactor,
  type Slice,
  type Tool,
  visibilityExpansionRequired,
} from '@holdfast/core';
import type { JsonSchemaDefinition, RenderedPrompt } from '@holdfast/core/types';
import {
  answerApproval,
  createBudget,
  type RunAgentOptions,
  type RunResult,
  resumeRun,
  runAgent,
} from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { guide, toOutputFormat } from '@holdfast/prompt/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type LogRecord, type Session, type SessionStore } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { type ScriptStep, scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';

/* Features whose code comes with a value: with it and without it, from the start of a run, on a page that changes in it, and after
a reload in it. Without their code a run does not begin, or a call fails; a run that has begun goes on. */

type When = 'from the start' | 'on a page that changes' | 'after a hot reload';
const times: readonly When[] = ['from the start', 'on a page that changes', 'after a hot reload'];

const pages: Slice<ListState<string>> = defineSlice<string>({
  id: 'pages',
  kind: 'list',
  reducers: { turned: (_state, page) => append(String(page)) },
});

const plainly = (): Outcome['value'] => 'worked';
const toWork = (execute: Tool['execute'] = plainly, rest: Partial<Tool> = {}): Tool =>
  ({
    ...defineTool({ name: 'work', description: 'Works.', effects: 'none', execute: plainly }),
    ...rest,
    execute,
  }) as Tool;

/** A prompt that shows `page` at once, after a call of the tool `turn`, or after that call replaced a plain page. */
function toPrompt(page: Partial<RenderedPrompt>, when: When): Prompt {
  const toPage = (rest: Partial<RenderedPrompt>): RenderedPrompt => ({
    text: 'Work.',
    policies: new Map(),
    allPolicies: [],
    ...rest,
    tools: [turn, ...(rest.tools ?? [toWork()])],
  });
  let loaded = when === 'from the start' ? page : {};
  const turn = defineTool({
    name: 'turn',
    description: 'Turns the page.',
    effects: 'state',
    execute(_input, { session }) {
      if (when === 'after a hot reload') loaded = page;
      session.dispatch({ type: 'turned', payload: 'next' });
      return 'turned';
    },
  });
  return {
    name: 'test/pages',
    slices: [pages],
    render({ session }) {
      const turned = session !== undefined && session.read(pages).size > 0;
      return toPage(when === 'on a page that changes' && turned ? page : loaded);
    },
  };
}

interface Run {
  readonly result: RunResult;
  /** Messages to the model other than tool results. */
  readonly told: readonly string[];
}

/** Turns the page unless it is shown from the start, calls `work`, and then says `texts`. */
async function run(
  prompt: Prompt,
  when: When,
  { texts = ['Done.'], ...options }: Partial<RunAgentOptions> & { readonly texts?: readonly string[] } = {},
): Promise<Run> {
  const calls = when === 'from the start' ? ['work'] : ['turn', 'work'];
  const script: ScriptStep[] = [
    ...calls.map((name, at) => ({ calls: [{ id: `c${at}`, name, arguments: '{}' }] })),
    ...texts.map((text) => ({ text })),
  ];
  const model = scriptedModel(script);
  const result = await runAgent({ model, prompt, session: createSession(), input: 'Go.', ...options });
  const last = model.requests.at(-1)?.messages ?? [];
  return { result, told: last.flatMap((message) => (message.role === 'user' ? [message.text] : [])).slice(1) };
}

/** `ok` or the error code of `work`, and the status of the run. */
function ends({ result }: Run): string {
  const { kind, code } = result.outcomes.at(-1) ?? {};
  return `${kind === 'ok' ? 'ok' : `${kind}: ${code}`}, ${result.status}${result.error === undefined ? '' : `: ${result.error.code}`}`;
}

interface Feature {
  /** The result if the feature is provided; `missing` if it is only declared. */
  readonly works: string;
  readonly missing: Readonly<Record<When, string>>;
  use(when: When, brought: boolean): Promise<string>;
}

const inRun = (refused: string): Feature['missing'] => ({
  'from the start': 'options.invalid',
  'on a page that changes': refused,
  'after a hot reload': refused,
});

const features: Readonly<Record<string, Feature>> = {
  'structured output': {
    works: 'ok, completed; corrected 1 times: {"n":1}',
    missing: inRun('denied: feature.missing, model-error: feature.missing'),
    async use(when, brought) {
      const output = toOutputFormat(v.object({ n: v.number() }));
      const prompt = toPrompt({ output, ...(brought ? { guide } : {}) }, when);
      const ran = await run(prompt, when, { texts: ['One.', '{"n":1}'] });
      if (!brought) return ends(ran);
      return `${ends(ran)}; corrected ${ran.told.length} times: ${JSON.stringify(ran.result.output)}`;
    },
  },
  'a completion checker': {
    works: 'ok, completed; Sign it.',
    missing: inRun('denied: feature.missing, model-error: feature.missing'),
    async use(when, brought) {
      const checker = {
        name: 'signed',
        check: ({ text }: { readonly text: string }) =>
          text.includes('Signed') ? { complete: true as const } : { complete: false as const, feedback: 'Sign it.' },
      };
      const prompt = toPrompt({ completion: { checker, maxReturns: 3 }, ...(brought ? { guide } : {}) }, when);
      const ran = await run(prompt, when, { texts: ['Done.', 'Signed.'] });
      return [ends(ran), ...ran.told].join('; ');
    },
  },
  feedback: {
    works: 'ok, completed; Hurry.',
    missing: inRun('denied: feature.missing, completed'),
    async use(when, brought) {
      const hurry = { name: 'hurry', triggers: [{ type: 'calls', every: 1 } as const], provide: () => 'Hurry.' };
      const prompt = toPrompt({ feedback: [hurry], ...(brought ? { guide } : {}) }, when);
      const ran = await run(prompt, when);
      return [ends(ran), ...ran.told.slice(-1)].join('; ');
    },
  },
  disclosure: {
    works: 'ok, completed: the rules are shown',
    // A tool requests a section only when it runs: its own call fails.
    missing: {
      'from the start': 'failed: visibility.expansion_required, completed',
      'on a page that changes': 'failed: visibility.expansion_required, completed',
      'after a hot reload': 'failed: visibility.expansion_required, completed',
    },
    async use(when, brought) {
      const tool = toWork(() => {
        throw visibilityExpansionRequired(['rules']);
      });
      const rules = createPrompt({
        ns: 'tests',
        key: 'rules',
        sections: [markdownSection({ title: 'Rules', template: 'Be kind.', summary: 'Rules.', visibility: 'summary' })],
      });
      const paged = toPrompt({ tools: [tool] }, when);
      const session = createSession();
      const prompt: Prompt = { ...paged, slices: [pages, ...rules.slices] };
      const ran = await run(brought ? { ...prompt, opening: (thrown) => rules.opening?.(thrown) } : prompt, when, {
        session,
      });
      const shown = rules.render({ session }).text.includes('Be kind.');
      return `${ends(ran)}${shown ? ': the rules are shown' : ''}`;
    },
  },
  'JSON Schema': {
    works: 'invalid: arguments.invalid, completed',
    missing: inRun('denied: feature.missing, completed'),
    async use(when, brought) {
      const whole = jsonSchema({ type: 'object', properties: { word: { type: 'string' } }, required: ['word'] });
      // As if created by another version of the package.
      const bare = { type: whole.type, schema: whole.schema } as JsonSchemaDefinition;
      const tool = toWork(plainly, { inputSchema: brought ? whole : bare });
      return ends(await run(toPrompt({ tools: [tool] }, when), when));
    },
  },
  'a budget': {
    works: 'denied: budget.used, budget',
    missing: inRun('failed: options.invalid, completed'),
    async use(when, brought) {
      const forged: Budget = { limits: { maxCalls: 1 }, used: { calls: 0, tokens: 0, wallMs: 0 } };
      if (!brought && when === 'from the start') return ends(await run(toPrompt({}, when), when, { budget: forged }));
      // A nested run has its own scope.
      const nested = toWork(async (_input, context) => {
        await runAgent({
          model: scriptedModel([]),
          instructions: '',
          input: '',
          session: context.child(),
          budget: forged,
        });
      });
      const prompt = toPrompt(brought ? {} : { tools: [nested] }, when);
      const spent = createBudget({ maxCalls: when === 'from the start' ? 1 : 2 });
      if (brought) await run(toPrompt({}, 'from the start'), 'from the start', { budget: spent });
      return ends(await run(prompt, when, brought ? { budget: spent } : {}));
    },
  },
  'a redactor': {
    works: 'ok, completed: masked',
    missing: inRun('failed: options.invalid, completed'),
    async use(when, brought) {
      const forged = { redact: (json: unknown) => json, learn: () => undefined } as unknown as Redactor;
      const secret = 'open-sesame-4711';
      const records: LogRecord[] = [];
      const store: SessionStore = {
        append: (entry, seq, atMs) => void records.push({ seq, atMs, ...entry }),
        close: () => undefined,
      };
      const tool = brought ? toWork(() => secret) : toWork(() => void createSession({ redactor: forged }));
      if (!brought && when === 'from the start') {
        const session = Object.create(createSession(), { redactor: { value: forged } }) as Session;
        return ends(await run(toPrompt({}, when), when, { session }));
      }
      const session = createSession({
        store,
        ...(brought ? { redactor: createRedactor({ key: 'a key known only to the host', secrets: [secret] }) } : {}),
      });
      const ran = await run(toPrompt({ tools: [tool] }, when), when, { session });
      const told = JSON.stringify(records);
      return `${ends(ran)}${told.includes(secret) || !told.includes('[redacted:') ? '' : ': masked'}`;
    },
  },
  recovery: {
    works: 'ok, completed',
    // A suspended run stays suspended until the feature is provided.
    missing: {
      'from the start': 'ok, completed: one run waits',
      'on a page that changes': 'ok, completed: one run waits',
      'after a hot reload': 'ok, completed: one run waits',
    },
    async use(when, brought) {
      const policies = [definePolicy({ name: 'asks', tools: ['work'], check: () => ask('Sure?') })];
      const session = createSession();
      const prompt = toPrompt({ tools: [toWork()] }, when);
      const { pending } = (await run(prompt, when, { session, policies })).result;
      if (brought) {
        for (const question of pending) await answerApproval(session, question, { type: 'approve' });
        const result = await resumeRun({ model: scriptedModel([{ text: 'Done.' }]), prompt, session, policies });
        return ends({ result, told: [] });
      }
      const ran = await run(toPrompt({}, 'from the start'), 'from the start', { session });
      return `${ends(ran)}: ${session.openWork().runs.length === 1 ? 'one run waits' : 'no run waits'}`;
    },
  },
};

describe.each(Object.entries(features))('%s', (_name, feature) => {
  test.each(times)('provided, %s', async (when) => {
    expect(await feature.use(when, true)).toBe(feature.works);
  });

  test.each(times)('declared but not provided, %s', async (when) => {
    const came = await feature.use(when, false).catch((thrown: unknown) => isHoldfastError(thrown) && thrown.code);
    expect(came).toBe(feature.missing[when]);
  });
});

test('a page without the code for a declared feature has every call denied, and the next page works again', async () => {
  const session = createSession();
  const prompt = toPrompt({ feedback: [{ name: 'mute', triggers: [], provide: () => '' }] }, 'on a page that changes');
  const model = scriptedModel([
    { calls: [{ id: 'a', name: 'turn', arguments: {} }] },
    { calls: [{ id: 'b', name: 'turn', arguments: {} }] },
    () => {
      session.reset();
      return { calls: [{ id: 'c', name: 'work', arguments: {} }] };
    },
    { calls: [{ id: 'd', name: 'work', arguments: {} }] },
    { text: 'Done.' },
  ]);
  const { outcomes, status } = await runAgent({ model, prompt, session, input: 'Go.' });
  expect(status).toBe('completed');
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'denied', 'denied', 'ok']);
  expect(outcomes[1]?.message).toBe(
    '`turn` was not run: The prompt has `feedback` without `guide`, the code for it: create the prompt with `createPrompt`.',
  );
});
