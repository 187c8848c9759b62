import { statSync } from 'node:fs';
import type { OpenGuard } from './session.ts';

export interface Holding {
  /** How long a question waits for its answer, in milliseconds. */
  readonly waitMs: number;
  pause(ms: number): Promise<void>;
  /** False: nobody waits for the verdict any longer. */
  goesOn(): boolean;
  /** Default `Date.now`. */
  readonly now?: () => number;
}

const looksEachMs = 200;

/**
 * A guard that holds a question open for a while: an answer that a person gives meanwhile decides the call. The log is free while it
 * waits. A question that the agent puts to its own person is not held.
 */
export async function openHolding(
  open: () => Promise<OpenGuard>,
  { waitMs, pause, goesOn, now = Date.now }: Holding,
): Promise<OpenGuard> {
  const first = await open();
  let opened: OpenGuard | undefined = first;
  const end = async (): Promise<void> => {
    const last = opened;
    opened = undefined;
    await last?.end();
  };
  const { guard, session, path } = first;
  return {
    session,
    path,
    end,
    guard: {
      async before(call) {
        const verdict = await guard.before(call);
        if (verdict.type !== 'ask' || call.agentAsks === true) return verdict;
        const { callId } = verdict.pending;
        const untilMs = now() + waitMs;
        await end();
        for (let seen = stampOf(path); goesOn() && now() < untilMs; ) {
          await pause(Math.min(looksEachMs, untilMs - now()));
          const stamp = stampOf(path);
          if (stamp === seen) continue;
          seen = stamp;
          opened = await open();
          const last = opened.session.openCall({ callId })?.approvals.at(-1);
          if (last === undefined || last.answer !== undefined) return await opened.guard.before(call);
          await end();
        }
        return verdict;
      },
      after: (call, report) => guard.after(call, report),
      prompt: (request) => guard.prompt(request),
      end: () => guard.end(),
    },
  };
}

/** Another one after each record. */
function stampOf(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined ? '' : `${status.ino} ${status.size} ${status.mtimeMs}`;
}
