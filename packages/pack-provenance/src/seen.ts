import type { KeyedState, Operation, PolicyResult, PreparedCall } from '@holdfast/core';
import { remove, upsert } from '@holdfast/core';
import * as v from 'valibot';
import type { Fingerprint } from './fingerprint.ts';
import { findForms, formsOf } from './forms.ts';
import type { TrustedField } from './options.ts';
import { readingsOf } from './readings.ts';
import { type Leaf, readLeaves } from './results.ts';

/** A result: by field, the fingerprints of its values, separated by spaces. */
export interface SeenResult {
  readonly call: string;
  readonly tool: string;
  readonly fields: readonly { readonly field: string; readonly trusted: boolean; readonly values: string }[];
}

export const seenSchema: v.GenericSchema<SeenResult> = v.object({
  call: v.string(),
  tool: v.string(),
  fields: v.array(v.object({ field: v.string(), trusted: v.boolean(), values: v.string() })),
});

/** Where a value was seen. */
export interface Source {
  readonly call: string;
  readonly tool: string;
  readonly field: string;
  readonly trusted: boolean;
}

// A value that is forgotten is asked about, so these limits only cost questions.
const maxResults = 100;
const maxTrusted = 600;
const maxForeign = 300;
const maxTextChars = 100_000;
const maxOneValue = 120;

/** Adds the values of a result to the state, and drops the oldest result if there are too many. */
export function noteResult(
  call: PreparedCall,
  result: PolicyResult,
  {
    state,
    trusted,
    fingerprint,
  }: {
    readonly state: KeyedState<SeenResult>;
    readonly trusted: readonly TrustedField[];
    readonly fingerprint: Fingerprint;
  },
): readonly Operation[] {
  const leaves = readLeaves(call, result, trusted);
  const fields = [
    ...collect(
      leaves.filter((leaf) => leaf.trusted),
      maxTrusted,
      fingerprint,
    ),
    ...collect(
      leaves.filter((leaf) => !leaf.trusted),
      maxForeign,
      fingerprint,
    ),
  ];
  if (fields.length === 0) return [];
  let first = Number.POSITIVE_INFINITY;
  let newest = 0;
  for (const [key] of state) {
    first = Math.min(first, Number(key));
    newest = Math.max(newest, Number(key));
  }
  const added = upsert(String(newest + 1), { call: call.id, tool: call.tool.name, fields });
  return state.size < maxResults ? [added] : [remove(String(first)), added];
}

function collect(leaves: readonly Leaf[], limit: number, fingerprint: Fingerprint): SeenResult['fields'] {
  const byField = new Map<string, Set<string>>();
  let count = 0;
  let chars = 0;
  for (const { field, value, trusted } of leaves) {
    const text = String(value);
    chars += text.length;
    if (count >= limit || chars > maxTextChars) break;
    const found = byField.get(field) ?? new Set();
    byField.set(field, found);
    for (const form of formsIn(text, trusted)) {
      if (count >= limit) break;
      const kept = fingerprint(form);
      if (found.has(kept)) continue;
      found.add(kept);
      count += 1;
    }
  }
  const trusted = leaves[0]?.trusted ?? false;
  return [...byField].flatMap(([field, values]) =>
    values.size === 0 ? [] : [{ field, trusted, values: [...values].join(' ') }],
  );
}

function formsIn(text: string, trusted: boolean): Iterable<string> {
  // Sentences are searched for values.
  const forms = new Set(text.length <= maxOneValue ? formsOf(text) : []);
  const isOneValue = text.length <= maxOneValue && !/\s/u.test(text.trim());
  if (trusted && isOneValue) return forms;
  for (const reading of trusted ? [text] : readingsOf(text)) for (const form of findForms(reading)) forms.add(form);
  return forms;
}

/** Where the value was seen: in a trusted field if in any, else in the latest result. */
export function findSource(state: KeyedState<SeenResult>, kept: string): Source | undefined {
  let foreign: { readonly at: number; readonly source: Source } | undefined;
  for (const [key, seen] of state) {
    const source = sourceIn(seen, kept);
    if (source?.trusted === true) return source;
    if (source !== undefined && Number(key) > (foreign?.at ?? 0)) foreign = { at: Number(key), source };
  }
  return foreign?.source;
}

/** True if one of the fields, as `list_files.id`, had the value, and outsiders could not write it. */
export function isFrom(state: KeyedState<SeenResult>, kept: string, fields: readonly string[]): boolean {
  for (const [, seen] of state) {
    for (const { field, trusted, values } of seen.fields)
      if (trusted && fields.includes(`${seen.tool}.${field}`) && includesValue(values, kept)) return true;
  }
  return false;
}

/** A log that is opened again has only the state. Most results are looked at once or twice, which an index is not worth. */
const looks = new WeakMap<SeenResult, number | ReadonlyMap<string, Source>>();
const maxLooks = 8;

function sourceIn(seen: SeenResult, kept: string): Source | undefined {
  const known = looks.get(seen) ?? 0;
  if (typeof known !== 'number') return known.get(kept);
  if (known === maxLooks) {
    const index = new Map<string, Source>();
    for (const each of seen.fields) {
      const source = toSource(seen, each);
      for (const value of each.values.split(' ')) if (index.get(value)?.trusted !== true) index.set(value, source);
    }
    looks.set(seen, index);
    return index.get(kept);
  }
  looks.set(seen, known + 1);
  let found: SeenResult['fields'][number] | undefined;
  for (const each of seen.fields) {
    if (found?.trusted !== true && includesValue(each.values, kept)) found = each;
  }
  return found && toSource(seen, found);
}

function toSource({ call, tool }: SeenResult, { field, trusted }: SeenResult['fields'][number]): Source {
  return { call, tool, field, trusted };
}

/** True if `kept` is one of the values, which are separated by spaces. */
function includesValue(values: string, kept: string): boolean {
  for (let at = values.indexOf(kept); at >= 0; at = values.indexOf(kept, at + 1)) {
    const end = at + kept.length;
    if ((at === 0 || values[at - 1] === ' ') && (end === values.length || values[end] === ' ')) return true;
  }
  return false;
}
