import { HoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { foldName } from './names.ts';

/** Copies the host's options, reading each property once. @throws HoldfastError `registry.invalid`. */
export function readOptions<Options extends object>(
  what: string,
  options: Options | undefined,
  known: readonly (keyof Options & string)[],
): Options {
  if (options === undefined) return Object.freeze({}) as Options;
  if (!isPlainObject(options)) throw invalid(`${what} must be an object.`);
  const unknown = Object.keys(options).find((key) => !known.some((name) => name === key));
  if (unknown !== undefined) {
    const names = known.map((name) => `\`${name}\``).join(', ');
    throw invalid(`${what} have the unknown key \`${unknown.slice(0, 100)}\`. Known keys: ${names}.`);
  }
  return Object.freeze({ ...options });
}

export function invalid(message: string, cause?: unknown): HoldfastError {
  return new HoldfastError('registry.invalid', message, { data: { reason: 'options.invalid' }, cause });
}

/** @throws HoldfastError `registry.invalid`. */
export function readTexts<Texts extends object>(what: string, texts: Texts): Texts {
  const wrong = Object.entries(texts).find(([, text]) => text !== undefined && typeof text !== 'string');
  if (wrong !== undefined) throw invalid(`\`${wrong[0].slice(0, 100)}\` of ${what} must be a string.`);
  return texts;
}

/** An error of the host, distinguished from the errors of a plugin. */
export class HostMistake extends Error {
  readonly error: HoldfastError;

  constructor(error: HoldfastError) {
    super(error.message);
    this.error = error;
  }
}

/** The host's choice of name owners. */
export interface Winners {
  /** The plugin that owns a name; `undefined` if the host did not choose one. */
  ownerOf(name: string): string | undefined;
  /** As given. */
  readonly entries: readonly (readonly [name: string, plugin: string])[];
}

/** @throws HoldfastError `registry.invalid`. */
export function readWinners(winners: Readonly<Record<string, string>> = {}): Winners {
  if (!isPlainObject(winners)) throw invalid('`winners` must be an object from tool names to plugin names.');
  const owners = new Map<string, string>();
  const entries = Object.entries(winners);
  for (const [name, plugin] of entries) {
    const given: unknown = plugin;
    if (typeof given !== 'string')
      throw invalid(`\`winners\` must assign \`${name.slice(0, 100)}\` to the name of a plugin.`);
    const folded = foldName(name);
    if (owners.has(folded))
      throw invalid(`\`winners\` contains the name \`${name.slice(0, 100)}\` twice, perhaps in different spellings.`);
    owners.set(folded, plugin);
  }
  return { ownerOf: (name) => owners.get(foldName(name)), entries };
}
