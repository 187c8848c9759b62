import type { CallScope } from './call-scope.ts';

/** Whether calls of the scope commit into the call around them; those of a child session commit into that session. */
export function isNested({ parent, state }: CallScope): boolean {
  return parent !== undefined && state === parent.transaction;
}
