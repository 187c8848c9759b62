import type { Effects, Json, JsonObject, Repeat } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { ToolExample } from '@holdfast/core/types';
import * as v from 'valibot';
import { showPath } from './report.ts';
import type { Isolation, Report } from './types.ts';

/** Weakest first. */
export const isolations: readonly Isolation[] = ['in-process', 'worker', 'subprocess', 'sandbox'];

// Source: semver.org 2.0.0, without its capture groups.
const semver =
  /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

const effects = ['none', 'state', 'external'] as const;
const repeats = ['safe', 'keyed', 'never'] as const;

/** The keys of METADATA that can be checked on their own. */
const keysSchema = v.object({
  dangerous: v.optional(v.boolean()),
  effects: v.optional(v.picklist(effects)),
  repeat: v.optional(v.picklist(repeats)),
  timeoutMs: v.optional(v.pipe(v.number(), v.gtValue(0))),
  isolation: v.optional(v.picklist(isolations)),
  version: v.optional(v.pipe(v.string(), v.maxLength(100), v.regex(semver))),
  maxResultBytes: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  resources: v.optional(v.pipe(v.array(v.pipe(v.string(), v.regex(/^\S{1,200}$/))), v.minLength(1))),
  examples: v.optional(
    v.array(
      v.strictObject({
        description: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(200)),
        // Read from a literal, so plain JSON.
        input: v.custom<JsonObject>(isPlainObject),
        output: v.custom<Json>((value) => value !== undefined),
      }),
    ),
  ),
});

/** Their values; missing and invalid keys are absent. */
interface Keys {
  readonly dangerous?: boolean | undefined;
  readonly effects?: Effects | undefined;
  readonly repeat?: Repeat | undefined;
  readonly timeoutMs?: number | undefined;
  readonly isolation?: Isolation | undefined;
  readonly version?: string | undefined;
  readonly maxResultBytes?: number | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly examples?: readonly ToolExample<JsonObject, Json>[] | undefined;
}

interface Words {
  readonly code: string;
  readonly reason?: string;
  /** Completes "must be …". */
  readonly expected: string;
  readonly hint: string;
}

const choose = 'Choose one of them, or remove the key.';

/** Code, expectation and hint of each key. */
export const keyWords: Readonly<Record<keyof Keys, Words>> = {
  dangerous: {
    code: 'tool.metadata.invalid',
    reason: 'dangerous.invalid',
    expected: 'true or false',
    hint: 'Write `true` or `false` without quotes.',
  },
  effects: { code: 'tool.invalid', reason: 'effects.invalid', expected: effects.join(', '), hint: choose },
  repeat: { code: 'tool.invalid', reason: 'repeat.invalid', expected: repeats.join(', '), hint: choose },
  isolation: {
    code: 'tool.metadata.invalid',
    reason: 'isolation.invalid',
    expected: isolations.join(', '),
    hint: choose,
  },
  timeoutMs: {
    code: 'tool.invalid',
    reason: 'timeout.invalid',
    expected: 'a positive number of milliseconds',
    hint: 'For example: `timeoutMs: 5000`.',
  },
  version: {
    code: 'tool.metadata.invalid',
    reason: 'version.invalid',
    expected: 'a semantic version',
    hint: "For example: `version: '1.4.0'`.",
  },
  maxResultBytes: {
    code: 'tool.metadata.invalid',
    reason: 'max_result_bytes.invalid',
    expected: 'a positive integer of bytes',
    hint: 'For example: `maxResultBytes: 65536`.',
  },
  resources: {
    code: 'tool.metadata.invalid',
    reason: 'resources.invalid',
    expected: 'a list of names, each 1 to 200 characters without spaces',
    hint: "For example: `resources: ['calendar', '$input.path']`.",
  },
  examples: {
    code: 'tool.invalid',
    reason: 'example.invalid',
    expected: 'a list of `{ description, input, output }`',
    hint: 'An example is `{ description, input, output }` with a description of 1 to 200 characters.',
  },
};

/** Reads these keys. An invalid key or list entry is reported once and left out. */
export function readKeys(metadata: JsonObject, report: Report): Keys {
  const parsed = v.safeParse(keysSchema, metadata);
  if (parsed.success) return parsed.output;
  const wrong = new Set<string>();
  const told = new Set<string>();
  for (const { path, message } of parsed.issues) {
    const [key = '', index, ...inner] = (path ?? []).map((item) => String(item.key));
    wrong.add(key);
    const place = index === undefined ? [key] : [key, index];
    if (told.has(showPath(place))) continue;
    told.add(showPath(place));
    // The schema has no other keys.
    const { expected, hint, ...kind } = keyWords[key as keyof Keys];
    const what =
      inner.length > 0 ? `is invalid at \`${inner.join('.')}\`: ${message}` : toProblem(metadata[key], place, expected);
    report({ ...kind, path: place, message: `\`${showPath(place)}\` ${what}.`, hint });
  }
  // Each key is optional.
  return v.parse(keysSchema, Object.fromEntries(Object.entries(metadata).filter(([key]) => !wrong.has(key))));
}

function toProblem(value: Json | undefined, place: readonly string[], expected: string): string {
  if (place.length > 1) return `is invalid: \`${place[0]}\` must be ${expected}`;
  const got = typeof value === 'object' ? '' : `, got \`${JSON.stringify(value)}\``;
  return `must be ${expected}${got}`;
}
