import { HoldfastError, isHoldfastError } from '../basics/errors.ts';
import { isPlainObject } from '../basics/json.ts';

/**
 * The error that a tool throws if it needs collapsed sections of its prompt: its changes are discarded, the sections open, and the call
 * ends `ok` with a text that names them, so the model continues with their instructions and tools. `keys` are section paths. In a nested
 * or direct call it is an ordinary failure.
 */
export function visibilityExpansionRequired(keys: readonly string[], reason = ''): HoldfastError {
  const list = keys.map((key) => `\`${key}\``).join(', ');
  const why = reason === '' ? '' : ` ${reason}`;
  return new HoldfastError(
    'visibility.expansion_required',
    `The sections ${list} must be open first: call \`open_sections\`.${why}`,
    {
      data: { keys: [...keys], reason },
    },
  );
}

/** Reads the keys and reason of a `visibilityExpansionRequired` error; `undefined` for anything else. Never throws. */
export function readExpansion(
  thrown: unknown,
): { readonly keys: readonly string[]; readonly reason: string } | undefined {
  try {
    if (!isHoldfastError(thrown) || thrown.code !== 'visibility.expansion_required' || !isPlainObject(thrown.data))
      return undefined;
    const { keys, reason } = thrown.data;
    if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) return undefined;
    return { keys: [...keys], reason: typeof reason === 'string' ? reason : '' };
  } catch {
    // An error with throwing properties is not such a request.
    return undefined;
  }
}
