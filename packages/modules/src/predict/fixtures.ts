import type { Model, ModelEvent, ModelRequest, ToolCall } from '@holdfast/core';

/** The reaction of a test model to a request: a text, tool calls, an error, or a function of the request. */
export type Play =
  | string
  | { readonly text?: string; readonly calls: readonly ToolCall[] }
  | Error
  | ((request: ModelRequest) => string);

/** A model that plays `plays` in order and records its requests. */
export function playModel(...plays: readonly Play[]): Model & { readonly requests: readonly ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    id: 'test:play',
    requests,
    async *stream(request): AsyncGenerator<ModelEvent> {
      requests.push({ ...request, messages: [...request.messages] });
      const play = plays[requests.length - 1];
      if (play === undefined) throw new Error(`Asked ${requests.length} times, ${plays.length} answers.`);
      if (play instanceof Error) throw play;
      const said =
        typeof play === 'object' ? play : { text: typeof play === 'function' ? play(request) : play, calls: [] };
      if (said.text !== undefined) yield { type: 'text-delta', text: said.text };
      for (const call of said.calls) yield { type: 'tool-call', ...call };
      yield {
        type: 'finish',
        reason: said.calls.length === 0 ? 'stop' : 'tool-calls',
        usage: { inputTokens: 10, outputTokens: 5 },
      };
    },
  };
}
