import { defineTool, HoldfastError, type Message, type ModelRequest, type Tool, type ToolCall } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { defineSignature, type Signature } from '@holdfast/modules';
import { jsonSchema } from '@holdfast/schema/json';
import * as v from 'valibot';

/** `gold` gives as much as it is asked for, and says with what it was called. */
export function goldTool(): { readonly tool: Tool; readonly runs: { player: number; unit: string }[] } {
  const runs: { player: number; unit: string }[] = [];
  const tool = defineTool({
    name: 'gold',
    description: 'Tells how much gold a player has.',
    effects: 'none',
    inputSchema: v.object({
      player: v.pipe(v.number(), v.integer(), v.minValue(1, 'players are numbered from 1')),
      unit: v.optional(v.string(), 'g'),
    }),
    execute(input) {
      runs.push(input);
      return { gold: input.player * 100, unit: input.unit };
    },
  });
  return { tool, runs };
}

/** Throws with everything in its message and its stack that a model must not see. */
export const boom: Tool = defineTool({
  name: 'boom',
  description: 'Fails.',
  effects: 'none',
  execute: () => {
    throw new Error('the vault at /home/keeper/vault.key is shut\n    at open (/home/keeper/src/vault.ts:12:3)');
  },
});

export interface Answer {
  readonly answer: string;
  readonly sure: boolean;
  readonly note?: string;
}

export const question: Signature<{ question: string }, Answer> = defineSignature({
  name: 'question',
  instruction: 'Answer the question about gold.',
  inputSchema: jsonSchema<{ question: string }>({
    type: 'object',
    properties: { question: { type: 'string', description: 'What a player asks.' } },
    required: ['question'],
  }),
  outputSchema: jsonSchema<Answer>({
    type: 'object',
    properties: {
      answer: { type: 'string', description: 'One sentence.' },
      sure: { type: 'boolean' },
      note: { type: 'string' },
    },
    required: ['answer', 'sure'],
  }),
});

export const input = { question: 'How much?' };
export const right: Answer = { answer: '100', sure: true };

export function call(name: string, args: unknown = {}, id?: string): ToolCall {
  return id === undefined ? { name, arguments: args } : { id, name, arguments: args };
}

export function submit(outputs: unknown = right): ToolCall {
  return call('submit', outputs);
}

/** The answers to a model's calls, in the order of the conversation. */
export function toolMessages(messages: readonly Message[]): readonly Extract<Message, { role: 'tool' }>[] {
  return messages.filter((message) => message.role === 'tool');
}

/** One step of the text protocol, as a model writes it. */
export function step(name: string, args: unknown = {}, thought = `I want ${name}.`): { readonly text: string } {
  return {
    text: [
      `[[ ## next_thought ## ]]\n${thought}`,
      `[[ ## next_tool_name ## ]]\n${name}`,
      `[[ ## next_tool_args ## ]]\n${typeof args === 'string' ? args : JSON.stringify(args)}`,
      '[[ ## completed ## ]]',
    ].join('\n\n'),
  };
}

/** The answer of the extraction. */
export function extracted({ answer, sure }: Answer = right): { readonly text: string } {
  return {
    text: [
      '[[ ## reasoning ## ]]\nIt says so.',
      `[[ ## answer ## ]]\n${answer}`,
      `[[ ## sure ## ]]\n${sure ? 'True' : 'False'}`,
      '[[ ## completed ## ]]',
    ].join('\n\n'),
  };
}

export function overflow(): { readonly throw: unknown } {
  return { throw: new HoldfastError('model.context_overflow', 'The prompt is too long.') };
}

/** The last message of the user to the model. */
export function lastText(request: ModelRequest | undefined): string {
  return request?.messages.at(-1)?.text ?? '';
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (thrown) {
    return thrown instanceof HoldfastError ? describeCode(thrown) : String(thrown);
  }
}
