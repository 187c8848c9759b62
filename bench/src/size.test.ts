import { describe, expect, test } from 'vitest';
import { bundle, type Code } from './size.ts';

/* A feature whose code comes with a value is not in the bundle of a program without that value. */

/** Modules that hold the code of each. */
const brought: Readonly<Record<string, RegExp>> = {
  'a redactor': /session\/src\/redact\/(?!content|fields)/,
  'JSON Schema': /schema\/src\/(?:json|bounded-check|equal-items)\.ts|@cfworker/,
  'a budget': /executor\/src\/run\/budget\.ts/,
  recovery: /executor\/src\/recovery\//,
  disclosure: /prompt\/src\/disclosure\/|core\/src\/call\/expansion\.ts/,
  'structured output': /prompt\/src\/(?:output|json|guide)\//,
  guidance: /prompt\/src\/(?:guide|prompt)\//,
};
/** Modules that are loaded when a call needs one of them. */
const onDemand: Readonly<Record<string, RegExp>> = {
  'policies and approval': /executor\/src\/approval\/(?:authorize|permit|ask|earlier-answers|grants)\.ts/,
  'several calls at once': /executor\/src\/turn\/(?:run-calls|call-sequence|early-call|decide-again)\.ts/,
  'nested calls': /executor\/src\/nested\/(?:calls|reservations)\.ts/,
  resources: /executor\/src\/resources\//,
  facts: /executor\/src\/facts\//,
  retries: /executor\/src\/direct\/(?:retry|expand|prepared-start)\.ts/,
};
const holds = ({ modules, files }: Code, feature: RegExp): boolean =>
  modules.some((path) => feature.test(path)) || files.some((code) => feature.test(code));

describe('the smallest program', async () => {
  const smallest = await bundle('smallest-program.ts', { fromSources: true });

  test.each(Object.entries(brought))('has no code of %s', (_name, feature) => {
    expect(smallest.all.modules.length).toBeGreaterThan(50);
    expect(holds(smallest.all, feature)).toBe(false);
  });

  test.each(Object.entries(onDemand))('has the code of %s in a file that it loads when needed', (_name, feature) => {
    expect(holds(smallest.all, feature)).toBe(true);
    expect(holds(smallest.start, feature)).toBe(false);
  });
});

describe('a program that brings everything', async () => {
  const largest = await bundle('largest-program.ts', { fromSources: true });

  test.each(Object.entries(brought))('has the code of %s', (_name, feature) => {
    expect(holds(largest.all, feature)).toBe(true);
  });
});
