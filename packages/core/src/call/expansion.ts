import { HoldfastError, isHoldfastError } from '../basics/errors.ts';
import { isPlainObject } from '../basics/json.ts';

/**
 * What a tool throws that needs summarised sections of its prompt to be open: what it wrote is dropped, the sections open, and the
 * call ends `ok` with a text that names them, so that the model goes on with their instructions and tools. `keys` are section
 * paths. In a nested or direct call it is a failure like any other.
 */
export function visibilityExpansionRequired(keys: readonly string[], reason = ''): HoldfastError {
  const list = keys.map((key) => `\`${key}\``).join(', ');
  const why = reason === '' ? '' : ` ${reason}`;
  return new HoldfastError(
    'visibility.expansion_required',
    `The sections ${list} have to be open first: call \`open_sections\`.${why}`,
    {
      data: { keys: [...keys], reason },
    },
  );
}

/** The keys and the reason of what `visibilityExpansionRequired` made; `undefined` for anything else, whatever that is. Never throws. */
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
    // An error whose own properties throw: what it is thrown for is all there is to say of it.
    return undefined;
  }
}
