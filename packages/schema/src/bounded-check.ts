import {
  dereference,
  type OutputUnit,
  type Schema,
  type SchemaDraft,
  type ValidationResult,
  validate,
} from '@cfworker/json-schema';

// References that are followed whatever the size of a value, and for each value within it.
const freeSteps = 20_000;
const stepsPerValue = 20;

/**
 * Makes a function that lists what is wrong with a value by a schema; notes are written into the schema. The time is bounded by the
 * size of the value: a schema that refers to itself in several ways, such as a tree of expressions, may otherwise ask for twice as
 * much with every level, and what a model sends has many levels. What takes more counts as wrong.
 */
export function createBoundedCheck(schema: Schema, draft: SchemaDraft): (value: unknown) => readonly OutputUnit[] {
  let steps = 0;
  let limit = freeSteps;
  let checked: unknown;
  const lookup = new Proxy(dereference(schema), {
    // Whatever goes on for ever goes through a reference.
    get(schemas, uri) {
      steps += 1;
      if (steps > limit) {
        if (limit === freeSteps) limit += stepsPerValue * countValues(checked, Number.POSITIVE_INFINITY);
        if (steps > limit) throw new TooManySteps();
      }
      return Reflect.get(schemas, uri);
    },
  });

  function run(value: unknown, shortCircuit: boolean): ValidationResult | undefined {
    [steps, limit, checked] = [0, freeSteps, value];
    try {
      return validate(value, schema, draft, lookup, shortCircuit);
    } catch (thrown) {
      // A RangeError: more errors than fit on the stack, or a chain of references that is too long for it.
      if (thrown instanceof TooManySteps || thrown instanceof RangeError) return undefined;
      // The path of a value is written as a URI, which has no way to write half of a sign.
      if (thrown instanceof URIError) return { valid: false, errors: [malformedKey] };
      throw thrown;
    } finally {
      checked = undefined;
    }
  }

  return (value) => {
    // Ends each branch at its first error, which says whether there is one; all of them are for those who have to correct it.
    const first = run(value, true);
    if (first === undefined) return [tooManySteps];
    // Of a large value that would be as many as it has parts.
    return first.valid ? [] : ((isLarge(value) ? undefined : run(value, false)) ?? first).errors;
  };
}

class TooManySteps extends Error {}

const tooManySteps: OutputUnit = {
  keyword: '$ref',
  keywordLocation: '#',
  instanceLocation: '#',
  error: 'Too large for its schema, which would have to look at every part of it many times.',
};

const malformedKey: OutputUnit = {
  keyword: 'propertyNames',
  keywordLocation: '#',
  instanceLocation: '#',
  error: 'A key has half of a surrogate pair, which is no text.',
};

const manyValues = 10_000;

function isLarge(value: unknown): boolean {
  return countValues(value, manyValues) >= manyValues;
}

/** Counts to `max`, or somewhat further. */
function countValues(value: unknown, max: number): number {
  let count = 0;
  const waiting = [value];
  while (waiting.length > 0 && count + waiting.length < max) {
    const next = waiting.pop();
    count += 1;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) waiting.push(inner);
  }
  return count + waiting.length;
}
