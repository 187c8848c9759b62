import { findWithin } from '../places/within.ts';
import type { Field } from '../script/field.ts';
import type { Input, Runner } from '../script/types.ts';

// Blanks and quotes make other names of one that is printed; what is shown of a long one is not all of it.
const isOdd = (path: string): boolean => /[\s'"\\…]/.test(path);

/** The names that come in; `undefined` where those that are printed may be read as others. */
export function plainNames({ names }: Input, { facts }: Pick<Runner, 'facts'>): readonly Field[] | undefined {
  const arePlain = names?.every(({ text, tree }) => {
    if (tree === undefined || isOdd(text)) return false;
    const matches = (path: string): boolean => isOdd(path.slice(tree.path.length));
    return findWithin(tree, facts.view, { matches }).type === 'none';
  });
  return arePlain === true && !facts.writesOdd(isOdd) ? names : undefined;
}
