import { governTools, toMastraTools } from '@holdfast/guard/mastra';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { scriptedModel } from '../ai-sdk.ts';
import type { Driver, Given, Ran } from '../driver.ts';

export const driver: Driver = {
  name: 'Mastra',
  decides: ['a call of an unknown tool runs nothing, and the run goes on'],
  secondAnswer: 'AGENT_RESUME_NO_SNAPSHOT_FOUND',
  run: (given) => proceed(given, scriptedModel(given.model), new InMemoryStore()),
  handOff: { name: 'agent-helper', input: { prompt: 'Go.' } },
  async runTeam({ guard, tools, model, helper: { model: script, options } }) {
    const agents = {
      helper: new Agent({
        ...{ id: 'helper', name: 'helper', description: 'Helps.', instructions: 'Help.' },
        model: scriptedModel(script) as never,
        tools: governTools(guard, toTools(tools), options),
      }),
    };
    const desk = new Agent({
      ...{ id: 'desk', name: 'desk', instructions: 'Help.', agents },
      model: scriptedModel(model) as never,
      tools: governTools(guard, toTools(tools)),
    });
    const mastra = new Mastra({ agents: { desk }, storage: new InMemoryStore(), logger: false });
    await mastra.getAgent('desk').generate('Go.', { maxSteps: 9 });
  },
};

function toTools(bodies: Given['tools']) {
  const tools = Object.entries(bodies).map(
    ([name, body]) =>
      [
        name,
        createTool({
          id: name,
          description: name,
          inputSchema: z.record(z.string(), z.unknown()),
          execute: async (input, { abortSignal }) => await body(input as never, abortSignal),
        }),
      ] as const,
  );
  return Object.fromEntries(tools);
}

interface Waiting {
  readonly runId: string;
  readonly ids: readonly string[];
}

interface Resume {
  /** The calls that still wait after this one. */
  readonly waiting: Waiting;
  readonly runId: string;
  readonly toolCallId: string;
  readonly approved: boolean;
}

type ScriptedModel = ReturnType<typeof scriptedModel>;

async function proceed(given: Given, model: ScriptedModel, storage: InMemoryStore, resume?: Resume): Promise<Ran> {
  const { own } = given;
  const desk = new Agent({
    id: 'desk',
    name: 'desk',
    instructions: 'Help.',
    // Mastra's own type of it is narrower than the SDK's.
    model: model as never,
    tools:
      own === undefined
        ? governTools(given.guard, toTools(given.tools), given.options)
        : toMastraTools(own.tools, { ...own.options, tool: createTool }),
  });
  const agent = new Mastra({ agents: { desk }, storage, logger: false }).getAgent('desk');
  const options = { maxSteps: 9, ...(given.signal === undefined ? {} : { abortSignal: given.signal }) };
  const waiting = resume?.waiting ?? (await start(agent, given, options));
  if (resume !== undefined)
    await readStream(await agent.resumeStream({ approved: resume.approved }, { ...options, ...resume }));
  const [next, ...later] = waiting.ids;
  if (next === undefined) return { type: 'done', read: readResults(model) };
  return {
    type: 'asked',
    ids: waiting.ids,
    answer: (answers, again) =>
      proceed({ ...given, ...again }, model, storage, {
        runId: waiting.runId,
        toolCallId: next,
        approved: answers[next] === true,
        waiting: { ...waiting, ids: later },
      }),
  };
}

/** Returns the calls that wait. */
async function start(agent: Agent, { streams = false }: Given, options: object): Promise<Waiting> {
  if (streams) await readStream(await agent.stream('Go.', options));
  else await agent.generate('Go.', options);
  const { runs } = await agent.listSuspendedRuns();
  const [{ runId, toolCalls } = { runId: '', toolCalls: [] }] = runs;
  return { runId, ids: toolCalls.flatMap(({ toolCallId }) => (toolCallId === undefined ? [] : [toolCallId])) };
}

async function readStream({ fullStream }: Awaited<ReturnType<Agent['stream']>>): Promise<void> {
  for await (const _ of fullStream);
}

function readResults(model: ScriptedModel): Readonly<Record<string, string>> {
  const prompt = (model.doStreamCalls.at(-1) ?? model.doGenerateCalls.at(-1))?.prompt ?? [];
  const parts = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  return Object.fromEntries(
    parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, JSON.stringify(part.output)]] : [])),
  );
}
