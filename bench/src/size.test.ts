import { describe, expect, test } from 'vitest';
import { type Bundle, bundle } from './size.ts';

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
const holds = ({ modules, code }: Bundle, feature: RegExp): boolean =>
  modules.some((path) => feature.test(path)) || feature.test(code);

describe('the smallest program', async () => {
  const smallest = await bundle('smallest-program.ts', { fromSources: true });

  test.each(Object.entries(brought))('has no code of %s', (_name, feature) => {
    expect(smallest.modules.length).toBeGreaterThan(50);
    expect(holds(smallest, feature)).toBe(false);
  });
});

describe('a program that brings everything', async () => {
  const largest = await bundle('largest-program.ts', { fromSources: true });

  test.each(Object.entries(brought))('has the code of %s', (_name, feature) => {
    expect(holds(largest, feature)).toBe(true);
  });
});
