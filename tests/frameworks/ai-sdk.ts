import type { Json } from '@holdfast/core';
import { governTools } from '@holdfast/guard/ai-sdk';
import {
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  ToolLoopAgent,
  type ToolSet,
  tool,
} from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import type { Driver, Given, Ran, Turn } from './driver.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;
type Content = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>['content'];

function toContent(turn: Turn): Content {
  if (typeof turn === 'string') return [{ type: 'text', text: turn }];
  return turn.map(({ id, name, input }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  }));
}

/** Mastra's driver uses it, too. @public */
export function scriptedModel(model: Given['model']): MockLanguageModelV4 {
  let index = 0;
  const next = async (): Promise<{
    readonly content: Content;
    readonly finishReason: { unified: 'stop' | 'tool-calls'; raw: undefined };
  }> => {
    const turn = await model(index);
    index += 1;
    return {
      content: toContent(turn),
      finishReason: { unified: typeof turn === 'string' ? 'stop' : 'tool-calls', raw: undefined },
    };
  };
  return new MockLanguageModelV4({
    doGenerate: async () => ({ ...(await next()), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = await next();
      const parts = content.flatMap((part): StreamPart[] => {
        if (part.type === 'tool-call') return [part];
        if (part.type !== 'text') return [];
        const { text: delta } = part;
        return [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta },
          { type: 'text-end', id: '1' },
        ];
      });
      return { stream: convertArrayToReadableStream<StreamPart>([...parts, { type: 'finish', usage, finishReason }]) };
    },
  });
}

export const aiSdk: Driver = {
  name: 'AI SDK',
  hasDeadlines: true,
  run: (given) => proceed(given, scriptedModel(given.model), [{ role: 'user', content: 'Go.' }]),
  handOff: { name: 'helper', input: {} },
  async runTeam({ guard, tools, model, helper }) {
    const agent = new ToolLoopAgent({
      model: scriptedModel(helper.model),
      ...governTools(guard, toTools(tools), helper.options),
    });
    const askHelper = tool({
      inputSchema: jsonSchema({ type: 'object' }),
      execute: async () => (await agent.generate({ prompt: 'Go.' })).text,
    });
    const own = governTools(guard, { ...toTools(tools), helper: askHelper });
    await generateText({ model: scriptedModel(model), ...own, prompt: 'Go.', stopWhen: isStepCount(9) });
  },
};

function toTools(bodies: Given['tools']): ToolSet {
  const tools = Object.entries(bodies).map(([name, body]) => [
    name,
    tool({
      inputSchema: jsonSchema<Record<string, Json>>({ type: 'object' }),
      execute: async (input, { abortSignal }) => await body(input, abortSignal),
    }),
  ]);
  return Object.fromEntries(tools);
}

async function proceed(given: Given, model: MockLanguageModelV4, messages: readonly ModelMessage[]): Promise<Ran> {
  const options = {
    model,
    ...governTools(given.guard, toTools(given.tools), given.options),
    messages: [...messages],
    stopWhen: isStepCount(9),
    maxRetries: 0,
    ...(given.deadlineMs === undefined ? {} : { timeout: { toolMs: given.deadlineMs } }),
    ...(given.signal === undefined ? {} : { abortSignal: given.signal }),
  };
  const made = given.streams === true ? await readStream(options) : await readResult(options);
  // As the host keeps them.
  const all = JSON.parse(JSON.stringify([...messages, ...made])) as ModelMessage[];
  const ids = all.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'tool-approval-request' ? [part] : [])),
  );
  const answered = new Set(
    all.flatMap(({ content }) =>
      typeof content === 'string'
        ? []
        : content.flatMap((part) => (part.type === 'tool-approval-response' ? [part.approvalId] : [])),
    ),
  );
  const open = ids.filter(({ approvalId }) => !answered.has(approvalId));
  if (open.length === 0) return { type: 'done', read: readResults(all) };
  return {
    type: 'asked',
    ids: open.map(({ toolCallId }) => toolCallId),
    answer: (answers, again) =>
      proceed({ ...given, ...again }, model, [
        ...all,
        {
          role: 'tool',
          content: open.map(({ approvalId, toolCallId }) => ({
            type: 'tool-approval-response',
            approvalId,
            approved: answers[toolCallId] === true,
          })),
        },
      ]),
  };
}

type Options = Parameters<typeof generateText>[0];

async function readResult(options: Options): Promise<readonly ModelMessage[]> {
  return (await generateText(options)).responseMessages;
}

async function readStream(options: Options): Promise<readonly ModelMessage[]> {
  const result = streamText(options);
  await result.consumeStream();
  return await result.responseMessages;
}

function readResults(messages: readonly ModelMessage[]): Readonly<Record<string, string>> {
  const results = messages.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  return Object.fromEntries(
    results.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, JSON.stringify(part.output)]] : [])),
  );
}
