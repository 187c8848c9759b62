import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';
import { usageError } from '../terminal/failure.ts';
import type { RunTerms } from './terms.ts';

/** The use of a run's limits, from its log. */
export interface RunUse {
  readonly calls: number;
  readonly tokens: number;
}

/** Counts the use of `run`; `records` begin with its own. */
export function readUse(records: Iterable<LogRecord>, run: number): RunUse {
  let calls = 0;
  let tokens = 0;
  for (const record of records) {
    if (record.type === 'model-message' && record['run'] === run) tokens += countTokens(record['usage']);
    else if (record.type === 'tool-call-end') calls += countCall(record);
    else if (record.type === 'child-record') {
      const entry = innermost(record);
      if (entry?.['type'] === 'tool-call-end') calls += countCall(entry);
      else if (entry?.['type'] === 'model-message') tokens += countTokens(entry['usage']);
    }
  }
  return { calls, tokens };
}

/**
 * The limits that remain for a run.
 *
 * @throws HoldfastError `usage.invalid` (`limit_used`) if a limit is used up.
 */
export function remainingTerms(terms: RunTerms, { calls, tokens }: RunUse): RunTerms {
  const { maxCalls, maxTokens } = terms;
  return {
    ...terms,
    maxCalls: subtract('--max-calls', maxCalls, calls),
    maxTokens: subtract('--max-tokens', maxTokens, tokens),
  };
}

function subtract(option: string, limit: number | undefined, used: number): number | undefined {
  if (limit === undefined || limit > used) return limit === undefined ? undefined : limit - used;
  throw usageError(
    'limit_used',
    `The run has used ${used} of ${limit} allowed by \`${option}\`. Pass a higher \`${option}\` to resume it.`,
  );
}

function innermost(record: LogRecord): Readonly<Record<string, unknown>> | undefined {
  let entry: unknown = record;
  while (isPlainObject(entry) && entry['type'] === 'child-record') entry = entry['entry'];
  return isPlainObject(entry) ? entry : undefined;
}

function countTokens(usage: unknown): number {
  if (!isPlainObject(usage)) return 0;
  const tokens = Number(usage['inputTokens']) + Number(usage['outputTokens']);
  // Counted like the run did: invalid usage reports count as 0.
  return Number.isFinite(tokens) ? Math.max(0, tokens) : 0;
}

/** 1 for a call whose tool started. */
function countCall({ outcome }: Readonly<Record<string, unknown>>): number {
  if (!isPlainObject(outcome)) return 0;
  const { kind, code } = outcome;
  if (kind === 'invalid') return String(code).startsWith('output.') ? 1 : 0;
  if (kind === 'cancelled') return code === 'call.interrupted' || code === 'call.redacted' ? 0 : 1;
  return kind === 'denied' || kind === 'unknown-tool' || kind === 'truncated' ? 0 : 1;
}
