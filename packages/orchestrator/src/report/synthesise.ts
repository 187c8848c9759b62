import { HoldfastError, type Model, type ModelUsage } from '@holdfast/core';
import { askForText } from '../compile/ask-for-text.ts';
import { toLine } from '../plan/text.ts';
import type { NodeId } from '../plan/types.ts';
import type { PlanTrace } from '../trace/trace.ts';
import { reportTrace } from './report.ts';
import { statusLines, writeReport } from './synthesis-by-rules.ts';
import { defaultMaxCharacters, minMaxCharacters, type PromptLimits, toSynthesisMessages } from './synthesis-prompt.ts';

export interface SynthesiseOptions extends Partial<PromptLimits> {
  /** Writes the report. Without one it is made by rules. */
  readonly model?: Model;
  /** Ends the wait for the model. */
  readonly signal?: AbortSignal;
}

/** What came of a plan, in words. */
export interface Synthesis {
  /** The trace's, whatever a model says. */
  readonly status: PlanTrace['status'];
  /** For people. Unless the run succeeded, it begins with the status and what is missing, which no model wrote. */
  readonly text: string;
  /** Nodes of which there is no result, in plan order. */
  readonly missing: readonly NodeId[];
  readonly by: 'model' | 'rules';
  /** Why the report was made by rules although there is a model; `text` has it, too. */
  readonly note?: string;
  /** Of the model's answer, used or not. */
  readonly usage?: ModelUsage;
}

/**
 * Says what came of a run. A model is told the request, the purposes of the nodes, how each ended, and the results, as JSON, and is
 * offered no tools. Where it fails, says nothing, calls a tool or is cut off, the report is made by rules. Nothing is thrown but the
 * reason of an aborted `signal`, and HoldfastError `options.invalid` for a limit that is no whole number or too small.
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
    const note = `This report was made by rules: ${problem}.`;
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
    `\`${option}\` must be a whole number of at least ${least}, got ${String(limit)}.`,
    {
      data: { option },
    },
  );
}

const maxAnswer = 200_000;

/** Why what a model said is no report. */
function findProblem(asked: Awaited<ReturnType<typeof askForText>>): string | undefined {
  if (asked.type === 'failed') return `the model could not be asked (${toLine(asked.message, 300)})`;
  if (asked.calls > 0 || asked.reason === 'tool-calls') return 'the model called tools, of which it was offered none';
  if (asked.reason === 'length') return 'the model was cut off';
  if (asked.reason === 'content-filter') return 'the model was stopped by a content filter';
  return asked.text.trim() === '' ? 'the model answered nothing' : undefined;
}
