import type { SessionReader, Slice } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { CallScope } from './call-scope.ts';
import { isNested } from './is-nested.ts';

/** What calls of one session that overlap have to know of each other. */
export interface PolicyMoves {
  /** Grows when policies may answer otherwise than before, as a call counts. */
  count: number;
  /** Whether a policy has ever read the session: from then on whatever changes the session may change what it answers. */
  looked: boolean;
  /** Resolves when nobody is before who comes next. */
  turn: Promise<void>;
}

const known = new WeakMap<Session, PolicyMoves>();

export function movesOf(session: Session): PolicyMoves {
  let moves = known.get(session);
  if (moves === undefined) {
    moves = { count: 0, looked: false, turn: Promise.resolve() };
    known.set(session, moves);
  }
  return moves;
}

/** What policies see of a session, or of a transaction in it. */
export function watchedReader(reader: SessionReader, moves: PolicyMoves): SessionReader {
  return Object.freeze({
    read<State>(slice: Slice<State>): State {
      moves.looked = true;
      return reader.read(slice);
    },
  });
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
