import { defineTool, type Model, type ModelEvent, type Tool } from '@holdfast/core';
import type { AdvanceOptions } from '@holdfast/executor';
import * as v from 'valibot';

export const tools = ['never', 'keyed', 'safe'] as const;
export type ToolName = (typeof tools)[number];

const turns: readonly (readonly ToolName[])[] = [
  ['never', 'keyed'],
  ['safe', 'never'],
  ['keyed', 'safe'],
  ['never', 'never', 'keyed'],
];

/** A request that reached the outside. */
export interface Effect {
  readonly session: string;
  readonly callId: string;
  readonly tool: ToolName;
  readonly key: string;
}

export type Send = (effect: Effect, signal: AbortSignal) => Promise<void>;

/** Answers by the conversation alone: the same on every machine, however often it is asked. */
const model: Model = {
  id: 'plan',
  async *stream({ messages }): AsyncGenerator<ModelEvent> {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    const calls = turns[turn] ?? [];
    for (const [index, name] of calls.entries()) {
      yield { type: 'tool-call', id: `${name}-${turn}-${index}`, name, arguments: {} };
    }
    if (calls.length === 0) yield { type: 'text-delta', text: 'Done.' };
    yield { type: 'finish', reason: calls.length === 0 ? 'stop' : 'tool-calls' };
  },
};

/** A run whose calls send one request each. */
export function crashOptions(session: string, send: Send): Omit<AdvanceOptions, 'store'> {
  const made = tools.map(
    (name) =>
      defineTool({
        name,
        description: `Sends a request that may be repeated: ${name}.`,
        inputSchema: v.object({}),
        repeat: name,
        async execute(_input, { callId, idempotencyKey, signal }) {
          await send({ session, callId, tool: name, key: idempotencyKey }, signal);
          return null;
        },
      }) as Tool,
  );
  return { model, instructions: 'Work.', tools: made, input: 'Work.' };
}
