import { HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { deepFreeze, describeThrown, isPlainObject } from '@holdfast/core/internal';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { cutProblems, type ModuleProblem, problemAt } from '../signature/problems.ts';
import type { ModuleDefinition } from './definition.ts';
import { parseText, toProblems } from './parse-text.ts';

/** The result of parsing a module file. The definition is frozen; all problems are listed. */
export type ModuleParsing =
  | { readonly type: 'module'; readonly definition: ModuleDefinition }
  | { readonly type: 'invalid'; readonly problems: readonly ModuleProblem[] };

const name = { type: 'string', minLength: 1, maxLength: 200 };
const openObject = { type: 'object', additionalProperties: true };
const demos = {
  type: 'array',
  items: { type: 'object', properties: { inputs: openObject, outputs: openObject }, required: ['inputs', 'outputs'] },
};
const descriptions = { type: 'object', additionalProperties: { type: 'string' } };
const fields = {
  type: 'array',
  items: {
    type: 'object',
    properties: { name, description: { type: 'string' }, field_type: { type: 'string' } },
    required: ['name'],
  },
};

const properties: JsonObject = {
  module_id: { type: 'string' },
  predictor_type: { enum: ['predict', 'chain_of_thought', 'react'] },
  signature_name: name,
  signature: {
    type: 'object',
    properties: { inputs: fields, outputs: fields },
    required: ['inputs', 'outputs'],
  },
  instruction: { type: 'string' },
  descriptions,
  demos,
  tool_enabled: { type: 'boolean' },
  tool_protocol: { enum: ['native', 'text'] },
  lists_tools: { type: 'boolean' },
  extract: { type: 'object', properties: { instruction: { type: 'string' }, descriptions, demos } },
  metadata: { type: 'object', properties: { version: name }, required: ['version'], additionalProperties: true },
};

const shape = compileSchema(
  jsonSchema({ type: 'object', properties, required: ['module_id', 'predictor_type', 'signature_name'] }),
);

/** Only `react` has a second step and a choice of protocol. */
const keysOfReact = ['tool_protocol', 'lists_tools', 'extract'];

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** `undefined` for a valid module id. */
export function findIdProblem(id: string): string | undefined {
  if (idPattern.test(id)) return undefined;
  return 'A module id must have 1 to 128 letters, digits, `.`, `_` and `-`, and begin with a letter or a digit.';
}

/**
 * Parses a module file without checking it against a signature. Unknown keys are problems, so that a misspelled `tool_enabled` is not
 * silently `false`; only `metadata` accepts any key. `null` means an absent optional key. Without `metadata` the version is `1.0.0`; a
 * `metadata` without `version` is a problem.
 *
 * Codes: `modules.invalid` (more than 8 MiB, or 50,000 values).
 *
 * Source of the format: the public repository SolPatrol/ml-crate, README and `src/inference/module.rs`; `react` and its keys, and
 * `descriptions`, are our additions.
 */
export function parseModule(text: string): ModuleParsing {
  const parsed = parseText(text, 'file');
  if (parsed.type === 'invalid') return parsed;
  const value = dropNulls(parsed.value);
  const shaped = shape.validate(value);
  const problems = [
    ...(shaped.ok ? [] : toProblems(shaped.issues, { reason: 'file', keys: Object.keys(properties) })),
    ...(isPlainObject(value) ? findContradictions(value) : []),
  ];
  if (!shaped.ok || problems.length > 0) return { type: 'invalid', problems: cutProblems(problems) };
  // The schema has just checked this type.
  const written = shaped.value as Partial<ModuleDefinition> &
    Omit<ModuleDefinition, 'demos' | 'tool_enabled' | 'metadata'>;
  const definition: ModuleDefinition = {
    ...written,
    demos: written.demos ?? [],
    tool_enabled: written.tool_enabled ?? false,
    metadata: written.metadata ?? { version: '1.0.0' },
  };
  return { type: 'module', definition: deepFreeze(definition) };
}

/**
 * Formats a module file with keys in a readable, fixed order: the same definition gives the same bytes.
 *
 * @throws HoldfastError `modules.invalid` if the definition is not JSON.
 */
export function stringifyModule(definition: ModuleDefinition): string {
  const known = Object.keys(properties);
  const place = (key: string): number => (known.includes(key) ? known.indexOf(key) : known.length);
  try {
    const entries = Object.entries(definition).sort(([left], [right]) => place(left) - place(right));
    return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
  } catch (cause) {
    const message = `The module is not JSON: ${describeThrown(cause).slice(0, 300)}. Pass the content of a module file.`;
    throw new HoldfastError('modules.invalid', message, { data: { reason: 'file' }, cause });
  }
}

/** Other writers of the format use `null` for absent keys. In values that a module shows to a model, `null` is kept. */
function dropNulls(value: Json): Json {
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(
    entries.map(([key, inner]) => {
      if (key === 'extract') return [key, withoutNulls(inner)];
      if (key !== 'signature' || !isPlainObject(inner)) return [key, inner];
      const sides = Object.entries(inner).map(([side, list]) => [
        side,
        Array.isArray(list) ? list.map(withoutNulls) : list,
      ]);
      return [key, Object.fromEntries(sides)];
    }),
  );
}

function findContradictions(value: Record<string, unknown>): readonly ModuleProblem[] {
  const { module_id: id, predictor_type: predictorType } = value;
  const problems: ModuleProblem[] = [];
  const report = (place: string, message: string): void => {
    problems.push(problemAt(place, 'file', message));
  };
  const idProblem = typeof id === 'string' ? findIdProblem(id) : undefined;
  if (idProblem !== undefined) report('module_id', idProblem);
  if (predictorType === 'react') {
    if (value['tool_enabled'] !== true)
      report('tool_enabled', 'A `react` module calls tools. Set `"tool_enabled": true`.');
    return problems;
  }
  for (const key of keysOfReact) {
    if (Object.hasOwn(value, key)) report(key, 'Only for `react` modules. Remove it.');
  }
  return problems;
}

function withoutNulls(value: Json): Json {
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null)) as JsonObject;
}
