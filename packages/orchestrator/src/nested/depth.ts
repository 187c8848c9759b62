import { HoldfastError } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import type { Session } from '@holdfast/session';

/** A sub-run under way. */
export interface SubRunLevel {
  /** Counted from 1. */
  readonly depth: number;
  /** Another one may be within it. */
  readonly hasRoom: boolean;
  /** It has ended. */
  leave(): void;
}

interface Level {
  /** What the ids of sessions within it begin with. */
  readonly prefix: string;
  readonly depth: number;
  readonly maxDepth: number;
}

const underWay = new WeakMap<Session, Set<Level>>();

/**
 * Counts how deep sub-runs are within each other. The least that any of them allows holds for all that are within it.
 *
 * @throws HoldfastError `plan.depth`.
 */
export function enterSubRun({ rootSession, session }: Caller, maxDepth: number): SubRunLevel {
  const levels = underWay.get(rootSession) ?? new Set<Level>();
  let around: Level | undefined;
  for (const level of levels) {
    if (session.id.startsWith(level.prefix) && level.depth > (around?.depth ?? 0)) around = level;
  }
  const depth = (around?.depth ?? 0) + 1;
  const least = Math.min(around?.maxDepth ?? maxDepth, maxDepth);
  if (depth > least) {
    const message = `This would be plan ${depth} of plans within each other; \`maxDepth\` is ${least}. Do the work with other tools.`;
    throw new HoldfastError('plan.depth', message, { data: { depth, maxDepth: least } });
  }
  const level: Level = { prefix: `${session.id}/`, depth, maxDepth: least };
  underWay.set(rootSession, levels.add(level));
  return { depth, hasRoom: depth < least, leave: () => void levels.delete(level) };
}
