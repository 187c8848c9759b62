import type { JsonObject, Message } from '@holdfast/core';
import {
  createStateFormat,
  type LoopState,
  listOf,
  objectOf,
  type StateFormat,
  shapes,
  stateInvalid,
  text,
} from '../loop/state.ts';
import { Conversation } from './conversation.ts';
import type { NativeTurn } from './native.ts';
import type { Step } from './step.ts';
import type { TextTurn } from './text.ts';

/** The state of a loop that waits for approval. */
export type ReactState = (
  | (LoopState<NativeTurn> & { readonly protocol: 'native' })
  | (LoopState<TextTurn> & { readonly protocol: 'text'; readonly steps: readonly Step[] })
) & { readonly conversation: Conversation };

const { count, turnCalls } = shapes;
const flag: JsonObject = { type: 'boolean' };
const callId = text;
const message: JsonObject = {
  anyOf: [
    objectOf({ role: { enum: ['system', 'user'] }, text }),
    objectOf({ role: { const: 'assistant' }, text, calls: listOf(objectOf({ id: text, name: text, arguments: {} })) }),
    objectOf({ role: { const: 'tool' }, text, callId, name: text, success: flag }),
  ],
};
const conversation = objectOf({ start: listOf(message), rounds: listOf(listOf(message)), leftOut: count });
const step = objectOf({ thought: text, toolName: text, toolArgs: text, observation: text });
const oneCall: JsonObject = { ...turnCalls, maxItems: 1 };

const format = createStateFormat<ReactState>(
  'react',
  {
    protocol: { const: 'native' },
    conversation,
    turn: objectOf({ calls: turnCalls, done: count, overspent: flag }),
  },
  {
    protocol: { const: 'text' },
    conversation,
    steps: listOf(step),
    turn: objectOf({ calls: oneCall, thought: text, overspent: flag }),
  },
);

export const reactState: StateFormat<ReactState> = {
  write: format.write,
  read(given, name) {
    const state = format.read(given, name);
    if (state.protocol === 'native' && state.turn.done > state.course.calls.length)
      throw stateInvalid('more calls have ended than it has');
    return { ...state, conversation: readConversation(state.conversation) };
  },
};

/** `kept` has just been validated. */
function readConversation(kept: unknown): Conversation {
  const { start, rounds, leftOut } = kept as {
    readonly start: readonly Message[];
    readonly rounds: readonly (readonly Message[])[];
    readonly leftOut: number;
  };
  if (leftOut < rounds.length) return new Conversation(start, rounds, leftOut);
  throw stateInvalid('`conversation` leaves out more rounds than it has');
}
