import type { JsonObject, ToolCall } from '@holdfast/core';
import { checkOutput } from './check-output.ts';
import type { ModuleError } from './module-error.ts';
import { type AnswerProblem, type ParsedAnswer, parseAnswer } from './parse-answer.ts';
import type { Program } from './program.ts';
import { type ExtraFields, promptFields } from './render-program.ts';

/** What an answer of a model is worth. */
export type AnswerReading<Output = unknown> =
  | (Answer & { readonly type: 'answer'; readonly isPartial: false; readonly output: Output })
  /** It asks for something first. `output` is what it has of the outputs, as read. */
  | (Answer & { readonly type: 'answer'; readonly isPartial: true; readonly output: JsonObject })
  | Unusable
  /** The signature's schema threw. */
  | { readonly type: 'failed'; readonly error: ModuleError; readonly output: JsonObject };

interface Answer {
  /** Reasoning and extra outputs, as read. */
  readonly extras: JsonObject;
}

/** A `field` of the problems is `name.inner[0]`; empty for the answer itself. */
export interface Unusable extends Omit<ParsedAnswer, 'values'> {
  readonly type: 'unusable';
  /** What could be read of the outputs. */
  readonly output: JsonObject;
}

/** Reads the text of an answer, and holds its outputs to the signature's schema. */
export function readAnswer<Output>(
  program: Program<unknown, Output>,
  { text, calls }: { readonly text: string; readonly calls: readonly ToolCall[] },
  extra?: ExtraFields,
): AnswerReading<Output> {
  const { signature } = program;
  const own = new Set(signature.outputs.map(({ name }) => name));
  const added = new Set(program.outputs.map(({ name }) => name).filter((name) => !own.has(name)));
  const { outputs } = promptFields(program, extra);
  // An answer is not refused for want of the reasoning before it.
  const fields = outputs.map((field) => (added.has(field.name) ? { ...field, required: false } : field));
  const { values, ...lacks } = parseAnswer(text, fields);
  const read = Object.entries(values);
  const output = Object.fromEntries(read.filter(([name]) => own.has(name)));
  const extras = Object.fromEntries(read.filter(([name]) => !own.has(name)));
  if (extra !== undefined && (calls.length > 0 || extra.isPartial(values)))
    return { type: 'answer', isPartial: true, output, extras };
  if (lacks.missing.length > 0 || lacks.problems.length > 0) {
    const problems = calls.length === 0 ? lacks.problems : [...lacks.problems, noTools];
    return { ...lacks, problems, type: 'unusable', output };
  }
  const checked = checkOutput(signature, output);
  if (checked.type === 'valid') return { type: 'answer', isPartial: false, output: checked.output, extras };
  if (checked.type === 'failed') return { ...checked, output };
  const problems = checked.issues.map(({ path, message }) => ({ field: path, message }));
  return { type: 'unusable', output, missing: [], problems };
}

const noTools: AnswerProblem = { field: '', message: 'there are no tools to call here' };
