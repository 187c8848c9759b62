import {
  dereference,
  type OutputUnit,
  type Schema,
  type SchemaDraft,
  type ValidationResult,
  validate,
} from '@cfworker/json-schema';

// References followed regardless of the size of a value, and per value within it.
const freeSteps = 20_000;
const stepsPerValue = 20;

/**
 * Creates a function that lists the errors of a value; the validator annotates the schema in place. Time is bounded by
 * the size of the value: a schema that refers to itself in several places, such as an expression tree, could otherwise
 * double the work with every level of the input. A value that exceeds the bound is invalid.
 */
export function createBoundedCheck(schema: Schema, draft: SchemaDraft): (value: unknown) => readonly OutputUnit[] {
  let steps = 0;
  let limit = freeSteps;
  let checked: unknown;
  const lookup = new Proxy(dereference(schema), {
    // Every endless walk goes through a reference.
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
      // A RangeError: the stack overflows from too many errors or too long a chain of references.
      if (thrown instanceof TooManySteps || thrown instanceof RangeError) return undefined;
      // The validator writes paths as URIs, which cannot hold an unpaired surrogate.
      if (thrown instanceof URIError) return { valid: false, errors: [malformedKey] };
      throw thrown;
    } finally {
      checked = undefined;
    }
  }

  return (value) => {
    // Stops each branch at its first error: enough to tell valid from invalid. A second run collects all errors.
    const first = run(value, true);
    if (first === undefined) return [tooManySteps];
    // A large value could have as many errors as it has parts.
    const isLarge = countValues(value, manyValues) >= manyValues;
    return first.valid ? [] : ((isLarge ? undefined : run(value, false)) ?? first).errors;
  };
}

class TooManySteps extends Error {}

const tooManySteps: OutputUnit = {
  keyword: '$ref',
  keywordLocation: '#',
  instanceLocation: '#',
  error: 'Too large for its schema, which would have to check every part of it many times.',
};

const malformedKey: OutputUnit = {
  keyword: 'propertyNames',
  keywordLocation: '#',
  instanceLocation: '#',
  error: 'A key contains an unpaired surrogate, which is not valid text.',
};

const manyValues = 10_000;

/** Counts to `max`, or slightly further. */
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
