import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFacts, shellFacts } from '@holdfast/facts';
import { createGuard, type GuardOptions, type ReleasingGuard } from '@holdfast/guard';
import { governTools as governAiSdk } from '@holdfast/guard/ai-sdk';
import { holdfastMiddleware } from '@holdfast/guard/langchain';
import { governTools as governMastra } from '@holdfast/guard/mastra';
import { governTool } from '@holdfast/guard/openai-agents';
import { holdfastIntervention } from '@holdfast/guard/strands';
import { createSession, openSession } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { generateText, isStepCount, jsonSchema, type ToolSet, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { compare, type Extent, everything, limitRounds, type Subject } from './compare.ts';
import type { Report } from './report.ts';

const operations = 40;
const goalOverNs = 20_000;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
/** Another one for each call: a guard knows a repeated input. */
const inputOf = (id: string): { readonly command: string } => ({ command: `ls -l ${id}` });
const execute = (): Promise<string> => Promise.resolve('a.ts');
const facts = createFacts({ describers: [shellFacts()], view: { folder: '/w', workspace: '/w' } });

/**
 * Measures the time that the guard adds to a call: in a run of the AI SDK, and of each adapter alone, called as its framework does, against
 * the body alone.
 */
export async function measureFrameworks(extent: Extent = everything): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-frameworks-'));
  const session = await openSession(jsonlStore(join(folder, 'log.jsonl')), { id: 'bench' });
  const memory = (more: Partial<GuardOptions> = {}): ReleasingGuard =>
    createGuard({ session: createSession(), policies: [], ...more });
  const lines = createGuard({ session, policies: [], facts });
  const own = 'AI SDK, a run of 40 calls';
  const body = 'the body alone';
  const against = (name: string) => [{ name, goalOverNs }];
  const subjects: readonly Subject[] = [
    { name: own, operations, prepare: () => () => runAiSdk(undefined) },
    {
      name: `${own}, governed`,
      operations,
      against: against(own),
      prepare: () => {
        const guard = memory();
        return () => runAiSdk(guard);
      },
    },
    ...[
      { name: 'with facts', guard: () => memory({ facts }) },
      { name: 'with facts and JSON lines', guard: () => lines },
    ].map(
      ({ name, guard }): Subject => ({
        name: `${own}, governed, ${name}`,
        operations,
        against: [{ name: own }],
        prepare: () => {
          const made = guard();
          return () => runAiSdk(made);
        },
      }),
    ),
    { name: body, operations, prepare: () => () => callAll(execute) },
    ...Object.entries(adapters).map(
      ([name, adapt]): Subject => ({
        name: `${name}, its adapter alone`,
        operations,
        against: against(body),
        prepare: () => {
          const call = adapt(memory());
          return () => callAll(call);
        },
      }),
    ),
  ];
  try {
    const rows = await compare(subjects, limitRounds({ rounds: 60, warmUpRounds: 200 }, extent));
    const notes = ['in memory and without facts, if a row does not say otherwise; JSON lines without syncing'];
    return { name: 'frameworks: a governed call', notes, rows };
  } finally {
    await session.close();
    rmSync(folder, { recursive: true });
  }
}

let ids = 0;

async function callAll(call: (id: string) => unknown): Promise<void> {
  for (let index = 0; index < operations; index += 1) {
    ids += 1;
    await call(`call-${ids}`);
  }
}

async function runAiSdk(guard: ReleasingGuard | undefined): Promise<void> {
  const tools: ToolSet = { bash: tool({ inputSchema: jsonSchema({ type: 'object' }), execute }) };
  let left = operations;
  const model = new MockLanguageModelV4({
    async doGenerate() {
      left -= 1;
      ids += 1;
      const call = {
        type: 'tool-call',
        toolCallId: `call-${ids}`,
        toolName: 'bash',
        input: JSON.stringify(inputOf(`call-${ids}`)),
      } as const;
      const content = left < 0 ? ({ type: 'text', text: 'Done.' } as const) : call;
      const unified = left < 0 ? 'stop' : 'tool-calls';
      return { content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
  });
  const governed = guard === undefined ? { tools } : governAiSdk(guard, tools);
  await generateText({ model, prompt: 'Go.', stopWhen: isStepCount(operations + 1), ...governed });
}

type Run = (...given: unknown[]) => unknown;

/** Each as its framework calls it: decided, released and reported. */
const adapters: Readonly<Record<string, (guard: ReleasingGuard) => (id: string) => unknown>> = {
  'AI SDK'(guard) {
    const { tools, toolApproval } = governAiSdk(guard, { bash: { execute } });
    return async (id) => {
      const input = inputOf(id);
      await toolApproval({ toolCall: { toolCallId: id, toolName: 'bash', input }, messages: [] });
      await (tools.bash.execute as Run)(input, { toolCallId: id });
    };
  },
  'OpenAI Agents'(guard) {
    const made = governTool(guard, (options: object) => options as { needsApproval: Run; execute: Run });
    const { needsApproval, execute: run } = made({ name: 'bash', execute });
    return async (id) => {
      const input = inputOf(id);
      await needsApproval({}, input, id);
      await run(input, {}, { toolCall: { callId: id } });
    };
  },
  LangChain(guard) {
    const { afterModel, wrapToolCall } = holdfastMiddleware(guard);
    return async (id) => {
      const toolCall = { id, name: 'bash', args: inputOf(id) };
      await afterModel.hook({ messages: [{ type: 'ai', tool_calls: [toolCall] }] }, {});
      await wrapToolCall({ toolCall, tool: undefined, runtime: {} }, async () => ({ content: await execute() }));
    };
  },
  Mastra(guard) {
    const { bash } = governMastra(guard, { bash: { execute } });
    return (id) => (bash.execute as Run)(inputOf(id), { agent: { toolCallId: id } });
  },
  Strands(guard) {
    const { beforeToolCall, afterToolCall } = holdfastIntervention(guard);
    return async (id) => {
      const toolUse = { name: 'bash', toolUseId: id, input: inputOf(id) };
      await beforeToolCall({ toolUse, interrupt: () => undefined });
      await afterToolCall({ toolUse, result: { status: 'success', content: [await execute()] }, agent: {} });
    };
  },
};
