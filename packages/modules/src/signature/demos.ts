import { HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { describeThrown, isPlainObject } from '@holdfast/core/internal';
import { type CompiledSchema, compileSchema, describeIssues, type SchemaIssue } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { type FileProblem, problemAt } from './problems.ts';
import type { Demo, ExtraNames, Program } from './program.ts';
import type { Signature } from './signature.ts';

interface Whose {
  readonly signature: Signature;
  readonly extra: ExtraNames;
  /** The path of the list. */
  readonly below: string;
}

/**
 * Returns one problem for each demo with an unknown field or an invalid value. Fields may be missing. Examples must be valid, because a
 * module was measured with all of its demos and behaves differently without some.
 */
export function findDemoProblems(demos: readonly Demo[], whose: Whose): readonly FileProblem[] {
  return demos.flatMap(({ inputs, outputs }, row) => {
    const issues = [...findIssues('inputs', inputs, whose), ...findIssues('outputs', outputs, whose)];
    if (issues.length === 0) return [];
    const message = `${describeIssues(issues.slice(0, maxIssues)).slice(0, maxMessageLength)}.`;
    return { ...problemAt(`${whose.below}[${row}]`, 'demo', message), severity: 'error' as const };
  });
}

/** The program, if its demos are valid. @throws HoldfastError `modules.invalid`. */
export function checkDemos<Input, Output>(program: Program<Input, Output>, extra: ExtraNames): Program<Input, Output> {
  const { demos, signature } = program;
  const problems = findDemoProblems(demos, { signature, extra, below: 'demos' });
  const [first] = problems;
  if (first === undefined) return program;
  const more = problems.length === 1 ? '' : ` There are ${problems.length - 1} more in \`data.problems\`.`;
  throw new HoldfastError('modules.invalid', `Invalid demo of \`${signature.name}\`: ${first.message}${more}`, {
    data: { reason: 'demo', problems: problems.slice(0, maxProblems).map(({ message }) => message) },
  });
}

const maxProblems = 100;
const maxIssues = 10;
const maxMessageLength = 2000;

function findIssues(
  side: 'inputs' | 'outputs',
  values: JsonObject,
  { signature, extra }: Whose,
): readonly SchemaIssue[] {
  const fields = new Set(signature[side].map(({ name }) => name));
  const own: [string, Json][] = [];
  const issues: SchemaIssue[] = [];
  for (const [name, value] of Object.entries(values)) {
    if (fields.has(name)) own.push([name, value]);
    else if (!extra[side].includes(name)) {
      const known = [...fields, ...extra[side]].map((one) => `\`${one}\``).join(', ');
      issues.push({ path: `${side}.${name.slice(0, 100)}`, message: `unknown field; the ${side} are ${known}` });
    } else if (name === 'reasoning' && typeof value !== 'string') {
      issues.push({ path: `${side}.${name}`, message: 'must be a string' });
    }
  }
  for (const { path, message } of validate(Object.fromEntries(own), side, signature)) {
    issues.push({ path: path === '' ? side : `${side}.${path}`, message: message.replace(/\.$/, '') });
  }
  return issues;
}

function validate(own: JsonObject, side: 'inputs' | 'outputs', signature: Signature): readonly SchemaIssue[] {
  const isWhole = signature[side].every(({ name, required }) => !required || Object.hasOwn(own, name));
  const { inputSchema, outputSchema } = signature;
  const whole = compileSchema(side === 'inputs' ? inputSchema : outputSchema);
  try {
    const validation = (isWhole ? whole : toPartial(whole)).validate(own);
    return validation.ok ? [] : validation.issues;
  } catch (thrown) {
    // A host's schema runs foreign code. A demo that cannot be checked is invalid.
    return [{ path: '', message: `the schema failed: ${describeThrown(thrown)}` }];
  }
}

const partials = new WeakMap<CompiledSchema, CompiledSchema>();

/** The schema without required fields. */
function toPartial(whole: CompiledSchema): CompiledSchema {
  const known = partials.get(whole);
  if (known !== undefined) return known;
  const { properties, $defs, definitions } = whole.jsonSchema;
  const schema: JsonObject = {
    type: 'object',
    ...(isPlainObject(properties) ? { properties } : {}),
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  } as JsonObject;
  const partial = compileSchema(jsonSchema(schema));
  partials.set(whole, partial);
  return partial;
}
