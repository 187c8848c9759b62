import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import type { Field, Path } from './plan-outputs.ts';

/** A value of an earlier step. */
export interface Taken {
  readonly from: number;
  readonly field: Field;
}

/** What a step is given for one input. */
export type Input =
  | { readonly type: 'literal'; readonly value: Json }
  /** The value with its type. */
  | { readonly type: 'taken'; readonly taken: Taken }
  | { readonly type: 'list'; readonly items: readonly Input[] }
  /** Texts, and values as texts. */
  | { readonly type: 'text'; readonly parts: readonly (string | Taken)[] };

/** The input as a plan writes it. */
export function writeInput(input: Input): Json {
  switch (input.type) {
    case 'literal':
      return input.value;
    case 'taken': {
      const { from, field } = input.taken;
      const path = formatPath(field.path);
      return path === '' ? { $from: from } : { $from: from, path };
    }
    case 'list':
      return input.items.map(writeInput);
    case 'text':
      return input.parts.map((part) => (typeof part === 'string' ? part : formatText(part))).join('');
    default:
      return input satisfies never;
  }
}

/** The steps that an input takes something from. */
export function stepsIn(input: Input): readonly number[] {
  switch (input.type) {
    case 'literal':
      return [];
    case 'taken':
      return [input.taken.from];
    case 'list':
      return input.items.flatMap(stepsIn);
    case 'text':
      return input.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.from]));
    default:
      return input satisfies never;
  }
}

/** Whether written inputs would be read as the plan means them: each reference in them is one that it has put there. */
export function isFaithful(inputs: ReadonlyMap<string, Input>): boolean {
  return [...inputs].every(([name, input]) => name !== '$from' && isFaithfulInput(input));
}

function isFaithfulInput(input: Input): boolean {
  switch (input.type) {
    case 'literal':
      return !looksReferring(input.value);
    case 'taken':
      return true;
    case 'list':
      return input.items.every(isFaithfulInput);
    case 'text': {
      const taken = input.parts.filter((part) => typeof part !== 'string').length;
      return (
        String(writeInput(input)).match(heads)?.length === taken || (taken === 0 && !looksReferring(writeInput(input)))
      );
    }
    default:
      return input satisfies never;
  }
}

// What a plan reads as the beginning of a reference. Two braces alone are text.
const heads = /\{\{\s*steps\s*[.[|}]/giu;

/** Whether a plan would take a part of a literal for a reference. */
function looksReferring(value: Json): boolean {
  if (typeof value === 'string') return value.search(heads) >= 0;
  if (Array.isArray(value)) return (value as readonly Json[]).some(looksReferring);
  if (!isPlainObject(value)) return false;
  return Object.hasOwn(value, '$from') || Object.values(value as JsonObject).some(looksReferring);
}

function formatText({ from, field }: Taken): string {
  const path = formatPath(field.path);
  return `{{STEPS.${from}${path === '' || path.startsWith('[') ? path : `.${path}`}}}`;
}

/** A path as plans write it: `a.b[0]["a key"]`. */
function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[^\s.[\]{}|"'\\]+$/u.test(step) || /^\d+$/u.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
