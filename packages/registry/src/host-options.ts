import { HoldfastError, isPlainObject } from '@holdfast/core';

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
