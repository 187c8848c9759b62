import { HoldfastError, type Model, type ModelUsage, type ToolCall } from '@holdfast/core';
import { type MessageReading, readMessage } from '@holdfast/executor';
import type { ChatRequest } from './serve-request.ts';

/** A call as OpenAI's clients read it: the arguments are text. */
export interface ChatCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of the model, whole. */
export interface ChatAnswer {
  readonly text: string;
  readonly calls: readonly ChatCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  /** Absent where the model counts nothing. */
  readonly usage: ModelUsage | undefined;
}

export interface AskOptions {
  /** Ends the waiting, and the model's work. */
  readonly signal: AbortSignal;
  /** For calls that the model gives none. */
  readonly createId: () => string;
  /** Told of the text as it comes. */
  readonly onText?: (text: string) => void;
}

/** Of a model that finds no end. */
const maxCharacters = 1_000_000;

/**
 * Asks the model for one message.
 *
 * @throws HoldfastError `serve.tools_unsupported`, `serve.call_missing`, `model.failed`; what the model throws; the reason of the signal.
 */
export async function askModel(
  model: Model,
  { asked, mustCall, onlyOneCall }: ChatRequest,
  { signal, createId, onText }: AskOptions,
): Promise<ChatAnswer> {
  if (asked.tools.length > 0 && model.callsTools === false) {
    throw new HoldfastError('serve.tools_unsupported', 'This model cannot be offered tools: leave `tools` out.', {
      data: { param: 'tools' },
    });
  }
  const reading = await readMessage(
    model,
    { ...asked, signal },
    {
      onEnd(end) {
        if (signal.aborted) end();
        signal.addEventListener('abort', end);
        return () => signal.removeEventListener('abort', end);
      },
      maxCharacters,
      // Beside a call that has to be made, text is none of the answer; and it may turn out that there is no call.
      onText: mustCall ? undefined : onText,
    },
  );
  const message = toMessage(reading, signal);
  // Cut calls must not run.
  const isCut = message.reason === 'length' || message.reason === 'content-filter';
  const calls = isCut ? [] : message.calls.slice(0, onlyOneCall ? 1 : undefined);
  if (mustCall && !isCut && !calls.some(({ name }) => asked.tools.some((tool) => tool.name === name))) {
    throw new HoldfastError(
      'serve.call_missing',
      'The model answered without the call that `tool_choice` wants, and cannot be forced to one: offer the tools with `auto`, or ask again in other words.',
      { data: { param: 'tool_choice' } },
    );
  }
  return {
    text: mustCall ? '' : message.text,
    calls: calls.map((call) => toChatCall(call, createId)),
    finishReason: toFinishReason(message.reason, calls.length > 0),
    usage: message.usage,
  };
}

type Read = Extract<MessageReading, { readonly type: 'message' }>;

function toMessage(reading: MessageReading, signal: AbortSignal): Read {
  switch (reading.type) {
    case 'message':
      return reading;
    case 'ended':
      throw signal.reason;
    case 'threw':
      throw reading.thrown;
    case 'wrong':
      throw new HoldfastError('model.failed', reading.problem);
    default:
      return reading satisfies never;
  }
}

function toFinishReason(reason: Read['reason'], hasCalls: boolean): ChatAnswer['finishReason'] {
  if (reason === 'length') return 'length';
  if (reason === 'content-filter') return 'content_filter';
  // Clients go by it whether they run calls.
  return hasCalls ? 'tool_calls' : 'stop';
}

function toChatCall({ id, name, arguments: given }: ToolCall, createId: () => string): ChatCall {
  return {
    id: id === undefined || id === '' ? createId() : id,
    type: 'function',
    function: { name, arguments: toText(given) },
  };
}

/** What the model wrote, as it is; clients parse it. */
function toText(given: unknown): string {
  if (typeof given === 'string') return given.trim() === '' ? '{}' : given;
  return JSON.stringify(given ?? {});
}
