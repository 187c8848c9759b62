import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard, decisions, type Guard } from '@holdfast/guard';
import type { Agent, HookInput } from '@holdfast/guard/agents';
import { openSession, type Session } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { openRedaction } from '../user/redaction.ts';
import { guardPolicies } from './coding.ts';
import { findWorkFolder, type GuardHost, guardFolder, homeFolder } from './place.ts';
import { forgetOldSessions } from './retention.ts';
import { readGuardRules } from './rules.ts';
import { withReportedRuns } from './runs.ts';
import { toSessionId } from './session-id.ts';

/** Small, so that a hook reads little however long its session is. */
const snapshotAfterBytes = 128 * 1024;

export interface OpenGuard {
  readonly guard: Guard;
  readonly session: Session;
}

export interface OpenGuardOptions {
  /** When the hook has to have answered, by `Date.now()`. */
  readonly untilMs: number;
  pause(ms: number): Promise<void>;
}

/**
 * The guard of an agent's session. Hooks that run at once take turns: each has the log to itself.
 *
 * @throws HoldfastError `log.locked` when that takes too long, and those of the log.
 */
export async function openGuard(
  agent: Agent,
  { sessionId, cwd }: HookInput,
  host: GuardHost,
  options: OpenGuardOptions,
): Promise<OpenGuard> {
  const folder = join(guardFolder(host), '.holdfast', 'sessions');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const id = toSessionId(agent.name, sessionId);
  const path = join(folder, `${id}.jsonl`);
  // Once a session.
  if (!existsSync(path)) await forgetOldSessions(host, Date.now());
  const redaction = await openRedaction(path, host);
  const { folder: at, workspace } = findWorkFolder(cwd, existsSync);
  const rules = await readGuardRules(workspace, host);
  const session = await openInTurn({ path, id, redaction }, options);
  const home = homeFolder(host);
  const view = { folder: at, workspace, home, disk: nodeDisk() };
  const facts = createFacts({ describers: agent.describers, view });
  const policies = guardPolicies({ agent: agent.name, rules }, host);
  return { session, guard: withReportedRuns(createGuard({ session, policies, facts }), { session, cwd, host }) };
}

interface SessionFile {
  readonly path: string;
  readonly id: string;
  readonly redaction: Awaited<ReturnType<typeof openRedaction>>;
}

async function openInTurn(
  { path, id, redaction }: SessionFile,
  { untilMs, pause }: OpenGuardOptions,
): Promise<Session> {
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 1.5, 50)) {
    try {
      const store = jsonlStore(path, { snapshotAfterBytes });
      return await openSession(store, { id, slices: [decisions], ...redaction });
    } catch (thrown) {
      const locked = isHoldfastError(thrown) && thrown.code === 'log.locked';
      if (!locked || Date.now() + waitMs >= untilMs) throw thrown;
      await pause(waitMs);
    }
  }
}
