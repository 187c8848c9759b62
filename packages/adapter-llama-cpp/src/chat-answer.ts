import type { FinishReason, ModelRequest, ModelUsage, ToolCall, ToolDeclaration } from '@holdfast/core';
import type { ChatHistoryItem, ChatModelFunctions, LlamaChat, LlamaContextSequence, Token } from 'node-llama-cpp';
import { type Answer, type Answering, checkLength, contextOverflow, roomFor } from './answering.ts';
import { toChatHistory } from './chat-history.ts';
import { toFunctionSchema } from './function-schema.ts';

/** Answers with the model's own chat template and node-llama-cpp's function calling for it. */
export function answerInChat(answering: Answering): Answer {
  const { binding, model, sequences } = answering;
  const chatWrapper = binding.resolveChatWrapper(model);
  const functions = new Functions(answering);

  return async (request, push, stopped) => {
    const history = toChatHistory(request.messages);
    const offered = functions.of(request.tools);
    const { contextText } = chatWrapper.generateContextState({
      chatHistory: history,
      ...(offered === undefined ? {} : { availableFunctions: offered, documentFunctionParams: true }),
    });
    checkLength([contextText.toString()], answering);
    const prompt = contextText.tokenize(model.tokenizer);
    const room = roomFor(prompt, answering, request);
    await sequences.use(prompt, stopped, async (sequence) => {
      const chat = new binding.LlamaChat({ contextSequence: sequence, chatWrapper });
      try {
        const asking = { answering, chat, sequence, history, prompt, stopped };
        const tell = (text: string): void => {
          if (text !== '') push({ type: 'text-delta', text });
        };
        let isText = false;
        const drop = (): void => {
          isText = true;
        };
        // With tools, the message may be calls: the output schema is applied only if it was a text.
        const waits = request.output !== undefined && offered !== undefined;
        const first = await ask(
          asking,
          { room, offered, output: waits ? undefined : request.output },
          waits ? drop : tell,
        );
        // A cut-off call is dropped; for a discarded text it does not matter.
        const isCut = first.reason === 'length' && !isText;
        const isAnswered = !waits || first.calls.length > 0 || isCut;
        const last = isAnswered ? first : await ask(asking, { room, offered: undefined, output: request.output }, tell);
        if (stopped.aborted) return;
        for (const call of last.calls) push({ type: 'tool-call', ...call });
        const usage = last === first ? first.usage : add(first.usage, last.usage);
        push({ type: 'finish', reason: last.reason, usage });
      } finally {
        chat.dispose({ disposeSequence: false });
      }
    });
  };
}

/** Stops a model that never ends its calls; it can continue in its next message. */
const maxParallelFunctionCalls = 8;

interface ReplyOptions {
  readonly answering: Answering;
  readonly chat: LlamaChat;
  readonly sequence: LlamaContextSequence;
  readonly history: ChatHistoryItem[];
  readonly prompt: readonly Token[];
  readonly stopped: AbortSignal;
}

interface ModelReply {
  readonly calls: readonly ToolCall[];
  readonly reason: FinishReason;
  readonly usage: ModelUsage;
}

async function ask(
  { answering, chat, sequence, history, prompt, stopped }: ReplyOptions,
  wanted: {
    readonly room: number;
    readonly offered: ChatModelFunctions | undefined;
    readonly output: ModelRequest['output'];
  },
  onTextChunk: (text: string) => void,
): Promise<ModelReply> {
  const { offered, output, room } = wanted;
  const before = sequence.tokenMeter.getState();
  const common = {
    ...answering.sampling,
    onTextChunk,
    maxTokens: room,
    repeatPenalty: false as const,
    signal: stopped,
    // A conversation is never truncated silently.
    contextShift: {
      size: 1,
      strategy: () => {
        throw contextOverflow(prompt.length, answering);
      },
    },
  };
  const grammar = output === undefined ? undefined : await answering.grammars.of([output]);
  const answer =
    offered === undefined
      ? await chat.generateResponse(history, { ...common, ...(grammar === undefined ? {} : { grammar }) })
      : await chat.generateResponse(history, {
          ...common,
          functions: offered,
          documentFunctionParams: true,
          maxParallelFunctionCalls,
        });
  const calls = (answer.functionCalls ?? []).map(({ functionName, params }) => ({
    name: functionName,
    arguments: params ?? {},
  }));
  const { stopReason } = answer.metadata;
  const reason = stopReason === 'maxTokens' ? 'length' : calls.length > 0 ? 'tool-calls' : 'stop';
  const outputTokens = sequence.tokenMeter.diff(before).usedOutputTokens;
  return { calls: reason === 'length' ? [] : calls, reason, usage: { inputTokens: prompt.length, outputTokens } };
}

function add(one: ModelUsage, other: ModelUsage): ModelUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

/** Converts tools to node-llama-cpp functions, each once. */
class Functions {
  readonly #answering: Answering;
  readonly #known = new WeakMap<ToolDeclaration, ChatModelFunctions[string]>();

  constructor(answering: Answering) {
    this.#answering = answering;
  }

  of(tools: readonly ToolDeclaration[]): ChatModelFunctions | undefined {
    if (tools.length === 0) return undefined;
    return Object.fromEntries(tools.map((tool) => [tool.name, this.#functionOf(tool)]));
  }

  #functionOf(tool: ToolDeclaration): ChatModelFunctions[string] {
    const known = this.#known.get(tool);
    if (known !== undefined) return known;
    const { schema, lowered } = toFunctionSchema(tool.inputSchema);
    this.#answering.grammars.lost(tool.name, lowered);
    const made = { description: tool.description, params: schema };
    this.#known.set(tool, made);
    return made;
  }
}
