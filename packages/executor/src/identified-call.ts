import {
  type CopiedJson,
  copyJson,
  type Json,
  modelJsonLimits,
  type ParsedJson,
  type Problem,
  type ToolCall,
} from '@holdfast/core';

/** A call that has an id and whose arguments have been taken over: nothing that their owner does later changes them. */
export interface IdentifiedCall {
  readonly id: string;
  readonly name: string;
  /** The text as it came, or frozen JSON; null for what is neither. */
  readonly arguments: Json;
  /** Why the arguments cannot be taken. */
  readonly problem: Problem | undefined;
}

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
  const copied = copyJson(raw, modelJsonLimits);
  if (copied.ok) return { ...identified, arguments: copied.value, problem: undefined };
  return { ...identified, arguments: null, problem: toProblem(copied) };
}

/** Why arguments are not what a call can take, as the call's outcome says it. */
export function toProblem({ reason, problem }: Extract<CopiedJson | ParsedJson, { readonly ok: false }>): Problem {
  const message = `The arguments cannot be taken: ${problem}.`;
  switch (reason) {
    case 'syntax':
      return { code: 'arguments.malformed', message };
    case 'type':
      return { code: 'arguments.not_json', message };
    case 'depth':
      return { code: 'arguments.too_deep', message };
    case 'key':
      return { code: 'arguments.reserved_key', message };
    case 'duplicate':
      return { code: 'arguments.duplicate_key', message };
    case 'size':
      return { code: 'arguments.too_large', message };
    case 'inexact':
      return { code: 'arguments.invalid', message, data: { reason: 'number.inexact' } };
    default:
      return reason satisfies never;
  }
}

/** Whether a message asks for the same thing twice under one id. */
export function isSameCall(a: IdentifiedCall, b: IdentifiedCall): boolean {
  if (a.name !== b.name) return false;
  if (a.arguments === b.arguments) return true;
  if (typeof a.arguments === 'string' || typeof b.arguments === 'string') return false;
  return JSON.stringify(a.arguments) === JSON.stringify(b.arguments);
}
