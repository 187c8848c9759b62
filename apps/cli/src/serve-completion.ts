import type { ModelUsage } from '@holdfast/core';
import type { ChatAnswer } from './serve-answer.ts';

/** What every part of one answer says of it. */
export interface Completion {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** The answer as one object. */
export function toCompletion({ id, created, model }: Completion, answer: ChatAnswer): object {
  const { text, calls, finishReason, usage } = answer;
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(usage === undefined ? {} : { usage: toUsage(usage) }),
  };
}

/** The answer as chunks: `begin`, `text` as it comes, `end`. */
export class CompletionChunks {
  readonly #completion: Completion;
  readonly #withUsage: boolean;

  constructor(completion: Completion, withUsage: boolean) {
    this.#completion = completion;
    this.#withUsage = withUsage;
  }

  begin(): object {
    return this.#toChunk({ role: 'assistant', content: '' });
  }

  text(text: string): object {
    return this.#toChunk({ content: text });
  }

  /** All that is left when the text is through. */
  end({ calls, finishReason, usage }: ChatAnswer): readonly object[] {
    return [
      ...calls.map((call, index) => this.#toChunk({ tool_calls: [{ index, ...call }] })),
      this.#toChunk({}, finishReason),
      ...(this.#withUsage && usage !== undefined ? [{ ...this.#head(), choices: [], usage: toUsage(usage) }] : []),
    ];
  }

  #toChunk(delta: object, finishReason: string | null = null): object {
    return {
      ...this.#head(),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(this.#withUsage ? { usage: null } : {}),
    };
  }

  #head(): object {
    const { id, created, model } = this.#completion;
    return { id, object: 'chat.completion.chunk', created, model };
  }
}

function toUsage({ inputTokens, outputTokens }: ModelUsage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}
