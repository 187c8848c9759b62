import type { Session } from '@holdfast/session';
import type { CallScope } from './call-scope.ts';
import { isNested } from './is-nested.ts';

/** What calls of one session that overlap have to know of each other. */
export interface PolicyMoves {
  /** Grows when policies may answer otherwise than before, as a call counts. */
  count: number;
  /** Resolves when nobody is before who comes next. */
  turn: Promise<void>;
}

const known = new WeakMap<Session, PolicyMoves>();

export function movesOf(session: Session): PolicyMoves {
  let moves = known.get(session);
  if (moves === undefined) {
    moves = { count: 0, turn: Promise.resolve() };
    known.set(session, moves);
  }
  return moves;
}

/** Something counts now that may have changed what policies decide by. What is nested does so with the call around it. */
export function noteMove(scope: CallScope): void {
  if (!isNested(scope)) scope.moves.count += 1;
}

/** Waits for those before; the answer lets the next one go on. */
export async function takeTurn(moves: PolicyMoves): Promise<() => void> {
  const { turn } = moves;
  const { promise, resolve } = Promise.withResolvers<void>();
  moves.turn = promise;
  await turn;
  return resolve;
}
