import type { Session } from '@holdfast/session';

/** The sessions of a server: one for each principal. */
export interface McpSessions {
  /** Opens the session of `principal`, and gives the same one until it is let go of by everybody. Called at a call, never before. */
  open(principal: string): Promise<Session>;
  /** Said once for each `open`. `waiting`: the call waits for a person, who may answer in another process. */
  release(principal: string, waiting: boolean): Promise<void>;
}

/** One session that stays open, for every principal. */
export function keepOpen(session: Session): McpSessions {
  return { open: async () => session, release: async () => undefined };
}
