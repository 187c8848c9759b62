import { copyJson, type Json, type JsonObject, type Message } from '@holdfast/core';
import type { NamedCall } from '../loop/calls.ts';
import {
  isCount,
  isListOf,
  isLoopCall,
  isNamedCall,
  isObject,
  isText,
  isUsage,
  stateInvalid,
  withCode,
} from '../loop/state.ts';
import { Conversation } from './conversation.ts';
import type { Course } from './course.ts';
import type { NativeTurn } from './native.ts';
import type { Step } from './step.ts';
import type { TextTurn } from './text.ts';

/** Where a loop is that waits for a person. */
export type ReactState = {
  readonly signature: string;
  readonly loop: number;
  readonly input: JsonObject;
  readonly course: Course;
  readonly conversation: Conversation;
} & (
  | { readonly protocol: 'native'; readonly turn: NativeTurn }
  | { readonly protocol: 'text'; readonly turn: TextTurn; readonly steps: readonly Step[] }
);

const type = 'react';
const version = 1;

export function writeState(state: ReactState): JsonObject {
  // What JSON leaves out, as the `code` of a success, must not be in it.
  return JSON.parse(JSON.stringify({ type, version, ...state })) as JsonObject;
}

/** Reads what `writeState` wrote, and whatever else somebody has put in its place. @throws HoldfastError `modules.state_invalid`. */
export function readState(given: unknown, name: string): ReactState {
  const copied = copyJson(given, { maxDepth: 80 });
  if (!copied.ok) throw stateInvalid(copied.problem);
  const state = copied.value;
  if (!isObject(state) || state['type'] !== type) throw stateInvalid('it is none of a `react` loop');
  if (state['version'] !== version) throw stateInvalid('it is of another version');
  const { signature, loop, input, protocol, turn, steps } = state;
  if (!isText(signature) || !isCount(loop) || !isObject(input))
    throw stateInvalid('it does not say of which loop it is');
  if (signature !== name) throw stateInvalid(`it is one of \`${signature.slice(0, 128)}\``);
  const course = readCourse(state['course']);
  const common = { signature, loop, input, course, conversation: readConversation(state['conversation']) };
  const isOwn = ({ callId }: NamedCall): boolean => callId.startsWith(`loop_${loop}_${course.iterations - 1}_`);
  if (protocol === 'native' && isNativeTurn(turn) && turn.done <= course.calls.length && turn.calls.every(isOwn)) {
    return { ...common, protocol, turn };
  }
  if (protocol === 'text' && isTextTurn(turn) && isOwn(turn.call) && isListOf(steps, isStep)) {
    return { ...common, protocol, turn, steps };
  }
  throw stateInvalid('what waits in it cannot be read');
}

/** The calls of the round that have not ended. */
export function waitingCalls(state: ReactState): readonly NamedCall[] {
  return state.protocol === 'native' ? state.turn.calls : [state.turn.call];
}

function readCourse(value: Json | undefined): Course {
  if (isObject(value)) {
    const { iterations, requests, usage, calls, partial } = value;
    if (
      isCount(iterations) &&
      isCount(requests) &&
      isUsage(usage) &&
      isListOf(calls, isLoopCall) &&
      isObject(partial)
    ) {
      return { iterations, requests, usage, calls: calls.map(withOwnCode), partial };
    }
  }
  throw stateInvalid('`course` has to tell how far it has come');
}

function withOwnCode(call: Course['calls'][number]): Course['calls'][number] {
  return call.outcome === undefined ? call : { ...call, outcome: withCode(call.outcome) };
}

function readConversation(value: Json | undefined): Conversation {
  if (isObject(value)) {
    const { start, rounds, leftOut } = value;
    const isRound = (round: unknown): round is readonly Message[] => isListOf(round, isMessage);
    if (isListOf(start, isMessage) && isListOf(rounds, isRound) && isCount(leftOut) && leftOut < rounds.length) {
      return new Conversation(start, rounds, leftOut);
    }
  }
  throw stateInvalid('`conversation` has to be what was said');
}

function isMessage(value: unknown): value is Message {
  if (!isObject(value) || !isText(value['text'])) return false;
  switch (value['role']) {
    case 'system':
    case 'user':
      return true;
    case 'assistant':
      return isListOf(value['calls'], isMessageCall);
    case 'tool':
      return isText(value['callId']) && isText(value['name']) && typeof value['success'] === 'boolean';
    default:
      return false;
  }
}

function isMessageCall(value: unknown): value is JsonObject {
  return isObject(value) && isText(value['id']) && isText(value['name']) && value['arguments'] !== undefined;
}

function isNativeTurn(value: unknown): value is NativeTurn {
  if (!isObject(value) || typeof value['overspent'] !== 'boolean') return false;
  return isCount(value['done']) && isListOf(value['calls'], isNamedCall);
}

function isTextTurn(value: unknown): value is TextTurn {
  return (
    isObject(value) && typeof value['overspent'] === 'boolean' && isText(value['thought']) && isNamedCall(value['call'])
  );
}

function isStep(value: unknown): value is Step {
  return isObject(value) && ['thought', 'toolName', 'toolArgs', 'observation'].every((key) => isText(value[key]));
}
