import { HoldfastError } from './errors.ts';
import { editDistance, nearestNames } from './nearest-names.ts';

type Kind = 'any' | 'text' | 'function' | 'list' | 'object' | 'boolean' | 'number';

/** The expected kind of each option. `!` marks a required one. */
export type OptionRules = Readonly<Record<string, Kind | `${Kind}!`>>;

/**
 * Refuses invalid options from untyped code: missing, of another kind, or misspelled. Call it once per created object, not per call.
 * `strays`: refuse all unknown keys, or only likely misspellings.
 *
 * @throws HoldfastError `options.invalid`; `data.reason` is `missing`, `kind` or `unknown`.
 */
export function checkOptions(
  maker: string,
  given: unknown,
  rules: OptionRules,
  { strays = 'refused' }: { readonly strays?: 'refused' | 'misspelled' } = {},
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(maker, undefined, {
      reason: 'kind',
      text: `takes its options as one object, got ${describe(given)}`,
    });
  }
  const options = given as Readonly<Record<string, unknown>>;
  // First, because a misspelled option is also missing under its right name.
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(rules, key)) continue;
    // A model may have many keys of its own, mostly unlike any option.
    if (strays === 'misspelled' && !isMisspelled(key, options, rules)) continue;
    const [nearest] = nearestNames(key, Object.keys(rules));
    const hint = nearest === undefined ? `it takes ${list(Object.keys(rules))}` : `did you mean \`${nearest}\`?`;
    throw invalid(maker, key, { reason: 'unknown', text: `has no option \`${key.slice(0, 100)}\`: ${hint}` });
  }
  for (const [key, rule] of Object.entries(rules)) {
    const value = options[key];
    const kind = rule.replace('!', '') as Kind;
    if (value === undefined ? !rule.endsWith('!') : is[kind](value)) continue;
    const reason = value === undefined ? 'missing' : 'kind';
    throw invalid(maker, key, { reason, text: `needs \`${key}\` as ${words[kind]}, got ${describe(value)}` });
  }
}

function isMisspelled(key: string, options: Readonly<Record<string, unknown>>, rules: OptionRules): boolean {
  for (const name of Object.keys(rules)) {
    if (Math.abs(name.length - key.length) > 2 || options[name] !== undefined) continue;
    if (editDistance(key.toLowerCase(), name.toLowerCase()) <= 2) return true;
  }
  return false;
}

const is: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  any: () => true,
  text: (value) => typeof value === 'string',
  function: (value) => typeof value === 'function',
  list: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null,
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
};
const words: Readonly<Record<Kind, string>> = {
  any: 'a value',
  text: 'text',
  function: 'a function',
  list: 'a list',
  object: 'an object',
  boolean: 'true or false',
  number: 'a number',
};

function describe(value: unknown): string {
  if (value === null || value === undefined) return value === null ? 'null' : 'nothing';
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function invalid(
  maker: string,
  option: string | undefined,
  { reason, text }: { readonly reason: string; readonly text: string },
): HoldfastError {
  const data = { maker, reason, ...(option === undefined ? {} : { option }) };
  return new HoldfastError('options.invalid', `\`${maker}\` ${text}.`, { data });
}
