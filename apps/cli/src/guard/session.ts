import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isHoldfastError, type Policy, type Slice } from '@holdfast/core';
import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard, decisions, type Guard, guardSelf } from '@holdfast/guard';
import type { Agent, HookInput } from '@holdfast/guard/agents';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { shellGuard } from '@holdfast/pack-shell';
import { packPolicies } from '@holdfast/policy';
import { openSession, type Session } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { userFolder } from '../user/folder.ts';
import { openRedaction } from '../user/redaction.ts';
import { findWorkFolder, type GuardHost, guardFolder, homeFolder, resolveLinks, toSessionId } from './place.ts';
import { readGuardRules } from './rules.ts';

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
  const redaction = await openRedaction(path, host);
  const { folder: at, workspace } = findWorkFolder(cwd, existsSync);
  const rules = await readGuardRules(workspace, host);
  const session = await openInTurn({ path, id, redaction, slices: [decisions] }, options);
  const home = homeFolder(host);
  const view = { folder: at, workspace, home, disk: nodeDisk() };
  const facts = createFacts({ describers: agent.describers, view });
  const policies = [...codingPolicies(host), ...rules];
  return { session, guard: createGuard({ session, policies, facts }) };
}

interface SessionFile {
  readonly path: string;
  readonly id: string;
  readonly redaction: Awaited<ReturnType<typeof openRedaction>>;
  readonly slices: readonly Slice[];
}

/** Opens a log that several processes use in turn. */
export async function openInTurn(
  { path, id, redaction, slices }: SessionFile,
  { untilMs, pause }: OpenGuardOptions,
): Promise<Session> {
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 1.5, 50)) {
    try {
      const store = jsonlStore(path, { snapshotAfterBytes });
      return await openSession(store, { id, slices, ...redaction });
    } catch (thrown) {
      const locked = isHoldfastError(thrown) && thrown.code === 'log.locked';
      if (!locked || Date.now() + waitMs >= untilMs) throw thrown;
      await pause(waitMs);
    }
  }
}

const settings = '.claude/settings.json .claude/settings.local.json .codex/hooks.json .codex/config.toml'.split(' ');

/** The preset `coding`: secrets, destructive commands, what runs by itself, and the guard itself. */
export function codingPolicies(host: GuardHost): readonly Policy[] {
  const home = homeFolder(host);
  const own = [guardFolder(host), userFolder(host), ...settings.map((path) => join(home, path))];
  const paths = [...new Set([...own, ...own.map(resolveLinks)])];
  return [guardSelf({ paths }), ...packPolicies(filesystemGuard), ...packPolicies(shellGuard)];
}
