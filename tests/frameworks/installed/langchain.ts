import { holdfastMiddleware, toLangChainTools } from '@holdfast/guard/langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent, createMiddleware } from 'langchain';
import type { Driver, Given, ModelCall, Ran } from '../driver.ts';

class ScriptedModel extends BaseChatModel {
  readonly script: Given['model'];
  index = 0;

  constructor(script: Given['model']) {
    super({});
    this.script = script;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  async _generate(): Promise<ChatResult> {
    const turn = await this.script(this.index);
    this.index += 1;
    const message = typeof turn === 'string' ? new AIMessage(turn) : new AIMessage({ content: '', ...toCalls(turn) });
    return { generations: [{ text: '', message }] };
  }
}

/** As LangChain's own clients read them. */
function toCalls(turn: readonly ModelCall[]): Pick<AIMessage, 'tool_calls' | 'invalid_tool_calls'> {
  const [tool_calls, invalid_tool_calls]: [
    NonNullable<AIMessage['tool_calls']>,
    NonNullable<AIMessage['invalid_tool_calls']>,
  ] = [[], []];
  for (const { id, name, input } of turn) {
    try {
      tool_calls.push({ id, name, args: typeof input === 'string' ? JSON.parse(input) : input });
    } catch {
      invalid_tool_calls.push({ id, name, args: String(input), error: 'not JSON' });
    }
  }
  return { tool_calls, invalid_tool_calls };
}

export const driver: Driver = {
  name: 'LangChain',
  decides: ['a call whose arguments are not JSON does not run, and the run goes on'],
  run: (given) => proceed(given, new ScriptedModel(given.model), new MemorySaver()),
  handOff: { name: 'helper', input: {} },
  async runTeam({ guard, tools, model, helper: { model: script, options } }) {
    const helper = createAgent({
      model: new ScriptedModel(script),
      tools: toTools(tools),
      middleware: [holdfastMiddleware(guard, options)],
    });
    const askHelper = async (): Promise<string> => (await helper.invoke(start)).messages.at(-1)?.text ?? '';
    const desk = createAgent({
      model: new ScriptedModel(model),
      tools: toTools({ ...tools, helper: askHelper }),
      middleware: [holdfastMiddleware(guard)],
    });
    await desk.invoke(start);
  },
};

const start = { messages: [{ role: 'user', content: 'Go.' }] };
const anyInput = { type: 'object' as const, properties: {}, additionalProperties: true };

function toTools(bodies: Given['tools']) {
  return Object.entries(bodies).map(([name, body]) =>
    tool(async (input: unknown, config) => JSON.stringify(await body(input as never, config.signal)), {
      name,
      description: name,
      schema: anyInput,
    }),
  );
}

/** LangChain ends the run when a tool throws, unless a middleware makes a message of it. */
const tellErrors = createMiddleware({
  name: 'TellErrors',
  async wrapToolCall(request, handler) {
    try {
      return await handler(request);
    } catch (error) {
      if (request.runtime.signal?.aborted) throw error;
      return new ToolMessage({ content: String(error), tool_call_id: request.toolCall.id ?? '', status: 'error' });
    }
  },
});

async function proceed(given: Given, model: ScriptedModel, checkpointer: MemorySaver, resume?: Command): Promise<Ran> {
  const { own } = given;
  const middleware = [holdfastMiddleware(given.guard, given.options), tellErrors];
  const agent =
    own === undefined
      ? createAgent({ model, tools: toTools(given.tools), middleware, checkpointer })
      : createAgent({ model, ...toLangChainTools(own.tools, { ...own.options, tool }), checkpointer });
  const config = {
    configurable: { thread_id: 'monday' },
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  };
  const input = resume ?? start;
  if (given.streams === true) {
    for await (const _ of await agent.stream(input as never, { ...config, streamMode: 'updates' }));
  } else await agent.invoke(input as never, config);
  const { values, tasks } = await agent.graph.getState(config);
  const [question] = tasks.flatMap(({ interrupts }) => interrupts);
  if (question === undefined) {
    const messages = values.messages as readonly BaseMessage[];
    const results = messages.flatMap((message) => (ToolMessage.isInstance(message) ? [message] : []));
    return { type: 'done', read: Object.fromEntries(results.map((message) => [message.tool_call_id, message.text])) };
  }
  const { actionRequests } = question.value as { readonly actionRequests: readonly { readonly id: string }[] };
  const ids = actionRequests.map(({ id }) => id);
  return {
    type: 'asked',
    ids,
    answer(answers, again) {
      const decisions = ids.map((id) => ({ type: answers[id] === true ? 'approve' : 'reject' }));
      return proceed({ ...given, ...again }, model, checkpointer, new Command({ resume: { decisions } }));
    },
  };
}
