import { HoldfastError, type Model, type ModelUsage } from '@holdfast/core';
import { askForText } from '../compile/ask-for-text.ts';
import { toLine } from '../plan/text.ts';
import type { NodeId } from '../plan/types.ts';
import type { PlanTrace } from '../trace/trace.ts';
import { reportTrace } from './report.ts';
import { statusLines, writeReport } from './synthesis-by-rules.ts';
import { defaultMaxCharacters, minMaxCharacters, type PromptLimits, toSynthesisMessages } from './synthesis-prompt.ts';

export interface SynthesiseOptions extends Partial<PromptLimits> {
  /** The model that writes the report. Default: rules. */
  readonly model?: Model;
  /** Aborts the request to the model. */
  readonly signal?: AbortSignal;
}

/** The report of a run. */
export interface Synthesis {
  /** The status of the trace, whatever the model says. */
  readonly status: PlanTrace['status'];
  /** The text for people. Unless the run succeeded, it starts with the status and the missing nodes, which never come from a model. */
  readonly text: string;
  /** Nodes without a result, in plan order. */
  readonly missing: readonly NodeId[];
  readonly by: 'model' | 'rules';
  /** The reason why rules wrote the report although a model was given; also part of `text`. */
  readonly note?: string;
  /** The tokens used by the model, even if its answer was not used. */
  readonly usage?: ModelUsage;
}

/**
 * Writes a report of a run. The model gets the request and each node's purpose, ending and result as JSON, and no tools. If it fails,
 * returns nothing, calls a tool or is cut off, rules write the report. Throws only the reason of an aborted `signal`, and HoldfastError
 * `options.invalid` for a limit that is not an integer or too small.
 */
export async function synthesise(
  trace: PlanTrace,
  { model, signal, maxCharacters = defaultMaxCharacters, resultLimits = {} }: SynthesiseOptions = {},
): Promise<Synthesis> {
  checkLimit('maxCharacters', maxCharacters, minMaxCharacters);
  for (const [tool, limit] of Object.entries(resultLimits)) checkLimit(`resultLimits.${tool}`, limit, 1);
  signal?.throwIfAborted();
  const report = reportTrace(trace);
  const facts = { status: trace.status, missing: report.missing.map(({ node }) => node) };
  if (model === undefined) return { ...facts, text: writeReport(report), by: 'rules' };
  const asked = await askForText(model, {
    messages: toSynthesisMessages(trace, { maxCharacters, resultLimits }),
    signal,
    maxCharacters: maxAnswer,
  });
  const usage = asked.type === 'text' && asked.usage !== undefined ? { usage: asked.usage } : {};
  const problem = findProblem(asked);
  if (problem !== undefined) {
    const note = `This report was written by rules: ${problem}.`;
    return { ...facts, text: writeReport(report, note), by: 'rules', note, ...usage };
  }
  const said = `${asked.text.trim().toWellFormed()}\n`;
  const text = trace.status === 'succeeded' ? said : [...statusLines(report), '', said].join('\n');
  return { ...facts, text, by: 'model', ...usage };
}

function checkLimit(option: string, limit: number, least: number): void {
  if (Number.isSafeInteger(limit) && limit >= least) return;
  throw new HoldfastError(
    'options.invalid',
    `\`${option}\` must be an integer of at least ${least}, got ${String(limit)}.`,
    {
      data: { option },
    },
  );
}

const maxAnswer = 200_000;

/** The reason why the model's answer cannot be used. */
function findProblem(asked: Awaited<ReturnType<typeof askForText>>): string | undefined {
  if (asked.type === 'failed') return `the model failed (${toLine(asked.message, 300)})`;
  if (asked.calls > 0 || asked.reason === 'tool-calls') return 'the model called tools, although none were offered';
  if (asked.reason === 'length') return 'the answer of the model was cut off';
  if (asked.reason === 'content-filter') return 'a content filter stopped the model';
  return asked.text.trim() === '' ? 'the answer of the model was empty' : undefined;
}
