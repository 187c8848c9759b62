import { isHoldfastError, type Json, type JsonObject, type Tool } from '@holdfast/core';
import {
  type CheckedPlan,
  checkPlan,
  compilePlan,
  modelPlanner,
  type PlanTrace,
  planFrom,
  runPlan,
} from '@holdfast/orchestrator';
import { createSession } from '@holdfast/session';
import { manualClock, scriptedModel } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import { functionsOf, ownPlans, type Plans, realPlans, standIns } from './test-real-plans.ts';
import { type Doing, fail, failing, kinds, nodeOf, runChecked, slow } from './test-run.ts';

type Which = 'comparison' | 'news';

interface Written {
  readonly nodes: readonly { readonly tool: string; readonly inputs: JsonObject }[];
}

/** The recorded answers of the tools: how it went, and the text under `response`. */
const success = (response: Json) => ({ status: 'success', response, source: 'web', results: [{ title: 'x' }] });
const subject = ({ query, raw_query: raw = query }: JsonObject) => String(raw);
const found: Doing = (input) => success(`About ${subject(input)}.`);

interface Prepared {
  readonly written: Written;
  readonly tools: readonly Tool[];
  readonly checked: CheckedPlan;
  readonly calls: readonly { readonly tool: string; readonly input: JsonObject }[];
}

/** Compiles one of the plans over stand-ins, of which the searches and the summary do what is said. */
async function prepare(plans: Plans, which: Which, doing: Partial<Record<'search' | 'sum', Doing>>): Promise<Prepared> {
  const written = JSON.parse(plans[which]) as Written;
  const calls: { tool: string; input: JsonObject }[] = [];
  const noted = (tool: string, inner: Doing): readonly [string, Doing] => [
    tool,
    (input, context) => {
      calls.push({ tool, input });
      return inner(input, context);
    },
  ];
  const [search, , sum, last] = written.nodes.map(({ tool }) => tool);
  const tools = standIns(
    plans,
    new Map([
      noted(String(search), doing.search ?? found),
      noted(String(sum), doing.sum ?? (({ text }) => success(`In short: ${String(text)}`))),
      noted(String(last), ({ prompt }) => success(`Report. ${String(prompt)}`)),
    ]),
  );
  const planner = planFrom(plans[which]);
  const checked = await compilePlan({ request: 'As in those days', tools, functions: functionsOf(plans), planner });
  return { written, tools, checked, calls };
}

const attempts = ({ nodes }: PlanTrace): readonly number[] => nodes.map((node) => node.attempts);
const only = (subjectPart: string, doing: Doing, other: Doing): Doing => {
  return (input, context) => (subject(input).includes(subjectPart) ? doing : other)(input, context);
};

const hasRealPlans = realPlans !== undefined;

// Only the real ones can be missing.
describe.skipIf(!hasRealPlans)('the real plans', () => {
  describePlans(realPlans ?? ownPlans, 'AMD');
});

describe('plans of the same shape', () => {
  describePlans(ownPlans, 'tulips');
});

function describePlans(plans: Plans, first: string): void {
  test.each<Which>(['comparison', 'news'])('REAL-1: %s is good as it stands, from any caller', async (which) => {
    const { tools } = await prepare(plans, which, {});
    const options = { tools, functions: functionsOf(plans) };
    const checked = await checkPlan(plans[which], options);
    expect(checked).toMatchObject({ type: 'valid', warnings: [], asks: [] });
    const digest = checked.type === 'valid' ? checked.checked.digest : '';
    const model = scriptedModel([{ text: `Here it is:\n\`\`\`json\n${plans[which]}\n\`\`\`\nDone.` }]);
    for (const planner of [planFrom(plans[which]), planFrom(JSON.parse(plans[which])), modelPlanner(model)]) {
      const compiled = await compilePlan({ request: 'As in those days', planner, ...options });
      expect(compiled).toMatchObject({ digest, rounds: 1, warnings: [], asks: [] });
    }
  });

  test('the comparison runs: each tool is given what the plan says, once', async () => {
    const { written, tools, checked, calls } = await prepare(plans, 'comparison', {});
    const { trace } = await runChecked(checked, tools);
    const [one, two, sum, last] = written.nodes;
    const about = [one, two].map((node) => `About ${subject(node?.inputs ?? {})}.`);
    const short = `In short: ${about.join('\n\n')}`;
    const prompt = String(last?.inputs['prompt']).replace('{{STEPS.2.response}}', () => short);
    expect(calls.map(({ input }) => input)).toEqual([
      one?.inputs,
      two?.inputs,
      { text: about.join('\n\n'), query: sum?.inputs['query'] },
      { prompt, model: 'default' },
    ]);
    expect([trace.status, kinds(trace)]).toEqual(['succeeded', ['ok', 'ok', 'ok', 'ok']]);
    expect(trace.output).toMatchObject({ response: `Report. ${prompt}` });
    expect(trace.nodes.map(({ purpose }) => typeof purpose)).toEqual(['string', 'string', 'string', 'string']);
  });

  test("REAL-3: the last prompt is the summary's response", async () => {
    const { tools, checked, calls } = await prepare(plans, 'news', {});
    const { trace } = await runChecked(checked, tools);
    const { response } = nodeOf(trace, 2).value as { readonly response: string };
    expect(response).toMatch(/^In short: About .+\.\n\nAbout .+\.$/);
    expect(calls.at(-1)?.input['prompt']).toBe(response);
    expect(trace.status).toBe('succeeded');
  });

  test('a response that is not text is its JSON in a prompt', async () => {
    const { tools, checked, calls } = await prepare(plans, 'news', { sum: () => success({ points: [1, 'two'] }) });
    await runChecked(checked, tools);
    expect(calls.at(-1)?.input['prompt']).toBe('{"points":[1,"two"]}');
  });

  test('one search fails: the summary is told which, and the run is in part', async () => {
    const search = only(first, fail('The search is closed.'), found);
    const { tools, checked, calls } = await prepare(plans, 'comparison', { search });
    const { trace } = await runChecked(checked, tools);
    expect([trace.status, kinds(trace), attempts(trace)]).toEqual([
      'partial',
      ['failed', 'ok', 'ok', 'ok'],
      [3, 1, 1, 1],
    ]);
    expect(calls.at(-2)?.input['text']).toMatch(
      /^\[step 0 failed: Tried 3 times\. The search is closed\.\]\n\nAbout .+\.$/,
    );
  });

  test('REAL-5: both searches fail, and nothing is summed up', async () => {
    const { written, tools, checked, calls } = await prepare(plans, 'comparison', { search: fail('Closed.') });
    const { trace } = await runChecked(checked, tools);
    expect([trace.status, kinds(trace), attempts(trace)]).toEqual([
      'failed',
      ['failed', 'failed', 'skipped', 'skipped'],
      [3, 3, 0, 0],
    ]);
    expect(nodeOf(trace, 2)).toMatchObject({ code: 'plan.inputs.unavailable', because: [0, 1], callId: undefined });
    expect(nodeOf(trace, 3)).toMatchObject({ code: 'plan.dependency.failed', because: [2] });
    expect(trace.output).toBeUndefined();
    expect(new Set(calls.map(({ tool }) => tool))).toEqual(new Set([written.nodes[0]?.tool]));
  });

  test('a tool that answers with an error of its own has no response: the summary is not made of it', async () => {
    const search: Doing = () => ({ status: 'error', error: 'quota' });
    const { tools, checked, calls } = await prepare(plans, 'comparison', { search });
    const { trace } = await runChecked(checked, tools);
    expect(kinds(trace)).toEqual(['ok', 'ok', 'invalid', 'skipped']);
    expect(nodeOf(trace, 2)).toMatchObject({ code: 'ref.path.missing', because: [0, 1] });
    expect([trace.status, calls.length]).toEqual(['failed', 2]);
  });

  test('REAL-7: a search that fails twice and then succeeds, a second and two seconds later', async () => {
    const clock = manualClock();
    const at: number[] = [];
    const twice = failing(2, success('found at last'));
    const search = only(
      first,
      (input, context) => {
        at.push(clock.now());
        return twice(input, context);
      },
      found,
    );
    const { tools, checked } = await prepare(plans, 'comparison', { search });
    const { trace } = await runChecked(checked, tools, { clock });
    expect([trace.status, attempts(trace), at]).toEqual(['succeeded', [3, 1, 1, 1], [0, 1_000, 3_000]]);
    expect(nodeOf(trace, 0).retries.map(({ code }) => code)).toEqual(['tool.threw', 'tool.threw']);
    // The other search was over by then.
    expect(nodeOf(trace, 1).endedAtMs).toBe(0);
  });

  test('a search that hangs is given 45 seconds, and another attempt', async () => {
    const clock = manualClock();
    let times = 0;
    const hangs: Doing = (input, context) => {
      times += 1;
      return times === 1 ? slow(clock, 3_600_000)(input, context) : found(input, context);
    };
    const { tools, checked } = await prepare(plans, 'news', { search: only(first, hangs, found) });
    const { trace } = await runChecked(checked, tools, { clock });
    expect([trace.status, attempts(trace)]).toEqual(['succeeded', [2, 1, 1, 1]]);
    expect(nodeOf(trace, 0).retries).toMatchObject([{ code: 'call.timeout', atMs: 45_000 }]);
  });

  test('a summary that fails halts the run after its attempts', async () => {
    const { tools, checked, calls } = await prepare(plans, 'news', { sum: fail('No summary.') });
    const { trace } = await runChecked(checked, tools);
    expect([trace.status, kinds(trace), attempts(trace)]).toEqual([
      'failed',
      ['ok', 'ok', 'failed', 'skipped'],
      [1, 1, 3, 0],
    ]);
    expect(nodeOf(trace, 3).code).toBe('plan.halted');
    expect(calls).toHaveLength(5);
  });

  test('REAL-9: without the summary in the registry nothing is compiled and nothing runs', async () => {
    const { written, tools, checked, calls } = await prepare(plans, 'comparison', {});
    const fewer = tools.filter(({ name }) => name !== written.nodes[2]?.tool);
    const options = { tools: fewer, functions: functionsOf(plans) };
    const missing = [{ code: 'plan.tool.unknown', path: 'nodes[2].tool', node: 2 }];
    expect(await checkPlan(plans.comparison, options)).toMatchObject({ type: 'invalid', violations: missing });
    const compiling = compilePlan({ request: 'Again', planner: planFrom(plans.comparison), ...options });
    const error = await compiling.catch((reason: unknown) => reason);
    expect(isHoldfastError(error) && error).toMatchObject({ code: 'plan.invalid', data: { violations: missing } });
    // Nor where it was good before, and the tool has gone since.
    const session = createSession();
    await expect(runPlan(checked, { tools: fewer, session })).rejects.toMatchObject({
      code: 'plan.invalid',
      data: { violations: missing },
    });
    expect([calls.length, session.snapshot().seq]).toEqual([0, createSession().snapshot().seq]);
  });
}
