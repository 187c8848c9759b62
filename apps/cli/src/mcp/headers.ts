import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';

// No name of a header has a colon.
const bearerPrefix = 'bearer:';

/** The token in a variable, among the names of headers in a start and its pin. */
export function toBearer(variable: string): string {
  return `${bearerPrefix}${variable}`;
}

/**
 * The headers that a start names: each in the variable of its own name, a token in one of any name.
 *
 * @throws HoldfastError `usage.invalid` (`header_missing`).
 */
export function readHeaders(
  names: readonly string[],
  { environment }: Pick<Host, 'environment'>,
): Record<string, string> {
  return Object.fromEntries(
    names.map((name): readonly [string, string] => {
      const isBearer = name.startsWith(bearerPrefix);
      const variable = isBearer ? name.slice(bearerPrefix.length) : name;
      const value = environment[variable];
      if (value !== undefined) return isBearer ? ['Authorization', `Bearer ${value}`] : [name, value];
      const [flag, what] = isBearer ? ['--bearer', 'a token'] : ['--header', "the header's value"];
      throw usageError('header_missing', `\`${flag} ${variable}\` needs ${what} in the variable \`${variable}\`.`);
    }),
  );
}
