import { HoldfastError, isPlainObject } from '@holdfast/core';
import { foldName } from './names.ts';

/** The options that a host gave, each read once. @throws HoldfastError `registry.options.invalid`. */
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
    throw invalid(`${what} have the unknown key \`${unknown.slice(0, 100)}\`: there are ${names}.`);
  }
  return Object.freeze({ ...options });
}

export function invalid(message: string, cause?: unknown): HoldfastError {
  return new HoldfastError('registry.options.invalid', message, { cause });
}

/** @throws HoldfastError `registry.options.invalid`. */
export function readTexts<Texts extends object>(what: string, texts: Texts): Texts {
  const wrong = Object.entries(texts).find(([, text]) => text !== undefined && typeof text !== 'string');
  if (wrong !== undefined) throw invalid(`\`${wrong[0].slice(0, 100)}\` of ${what} must be a text.`);
  return texts;
}

/** A host's mistake, told apart from the faults of a plugin among which it is found. */
export class HostMistake extends Error {
  readonly error: HoldfastError;

  constructor(error: HoldfastError) {
    super(error.message);
    this.error = error;
  }
}

/** Whose a name is, as the host said it. */
export interface Winners {
  /** The plugin to which a name belongs; `undefined`: to whoever has it. */
  ownerOf(name: string): string | undefined;
  /** As they were given. */
  readonly entries: readonly (readonly [name: string, plugin: string])[];
}

/** @throws HoldfastError `registry.options.invalid`. */
export function readWinners(winners: Readonly<Record<string, string>> = {}): Winners {
  if (!isPlainObject(winners)) throw invalid('`winners` must be an object of names of plugins by names of tools.');
  const owners = new Map<string, string>();
  const entries = Object.entries(winners);
  for (const [name, plugin] of entries) {
    const given: unknown = plugin;
    if (typeof given !== 'string')
      throw invalid(`\`winners\` must give \`${name.slice(0, 100)}\` to the name of a plugin.`);
    const folded = foldName(name);
    if (owners.has(folded))
      throw invalid(`\`winners\` has the name \`${name.slice(0, 100)}\` twice, once perhaps spelled otherwise.`);
    owners.set(folded, plugin);
  }
  return { ownerOf: (name) => owners.get(foldName(name)), entries };
}
