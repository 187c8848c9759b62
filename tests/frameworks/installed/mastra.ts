import { governTools } from '@holdfast/guard/mastra';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { scriptedModel } from '../ai-sdk.ts';
import type { Driver, Given, Ran } from '../driver.ts';

export const driver: Driver = {
  name: 'Mastra',
  run: (given) => proceed(given, scriptedModel(given.model), new InMemoryStore()),
};

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
  const tools = Object.fromEntries(
    Object.entries(given.tools).map(([name, body]) => [
      name,
      createTool({
        id: name,
        description: name,
        inputSchema: z.record(z.string(), z.unknown()),
        execute: async (input, { abortSignal }) => await body(input as never, abortSignal),
      }),
    ]),
  );
  const desk = new Agent({
    id: 'desk',
    name: 'desk',
    instructions: 'Help.',
    // Mastra's own type of it is narrower than the SDK's.
    model: model as never,
    tools: governTools(given.guard, tools, given.options),
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
    answer: (answers, guard = given.guard) =>
      proceed({ ...given, guard }, model, storage, {
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
