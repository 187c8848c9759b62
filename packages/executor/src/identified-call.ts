import { copyJson, type Json, type Problem, type ToolCall } from '@holdfast/core';

/** A call that has an id and whose arguments have been taken over: nothing that their owner does later changes them. */
export interface IdentifiedCall {
  readonly id: string;
  readonly name: string;
  /** The text as it came, or frozen JSON; null for what is neither. */
  readonly arguments: Json;
  /** Why the arguments cannot be taken. */
  readonly problem: Problem | undefined;
}

/** Characters of a text; of a value about as many as its text would have. */
export const maxArgumentsLength = 1_048_576;
export const maxArgumentsDepth = 64;
export const maxArgumentsKeys = 10_000;

/** Takes a call over from a model, a tool or a host. Each property of its arguments is read once. `fallbackId` is asked only without an id. */
export function identifyCall({ id, name, arguments: raw }: ToolCall, fallbackId: () => string): IdentifiedCall {
  const known: unknown = id;
  const called: unknown = name;
  const identified = {
    id: typeof known === 'string' && known !== '' ? known : fallbackId(),
    // No tool has such a name; the outcome says so.
    name: typeof called === 'string' ? called : `(${typeof called})`,
  };
  if (typeof raw === 'string') return { ...identified, arguments: raw, problem: undefined };
  if (raw === undefined) return { ...identified, arguments: '', problem: undefined };
  const copied = copyJson(raw, {
    maxDepth: maxArgumentsDepth,
    maxKeys: maxArgumentsKeys,
    maxLength: maxArgumentsLength,
  });
  if (copied.ok) return { ...identified, arguments: copied.value, problem: undefined };
  return { ...identified, arguments: null, problem: toProblem(copied.reason, copied.problem) };
}

type Refusal = Extract<ReturnType<typeof copyJson>, { ok: false }>['reason'];

const codes: Readonly<Record<Refusal, string>> = {
  type: 'arguments.not_json',
  depth: 'arguments.too_deep',
  key: 'arguments.reserved_key',
  size: 'arguments.too_large',
};

function toProblem(reason: Refusal, problem: string): Problem {
  return { code: codes[reason], message: `The arguments cannot be taken: ${problem}.` };
}

/** Whether a message asks for the same thing twice under one id. */
export function isSameCall(a: IdentifiedCall, b: IdentifiedCall): boolean {
  if (a.name !== b.name) return false;
  if (a.arguments === b.arguments) return true;
  if (typeof a.arguments === 'string' || typeof b.arguments === 'string') return false;
  return JSON.stringify(a.arguments) === JSON.stringify(b.arguments);
}
