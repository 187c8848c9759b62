import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CallFacts, type FactsSource, type PreparedCall, systemClock } from '@holdfast/core';
import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard, decisions, type Guard, type GuardedCall } from '@holdfast/guard';
import type { Agent, HookInput } from '@holdfast/guard/agents';
import { openSession, type Session } from '@holdfast/session';
import { type JsonlLog, jsonlStore } from '@holdfast/session/jsonl';
import { withCheckpoints } from '../checkpoints/keep.ts';
import { inTurn, type TurnOptions } from '../logs/in-turn.ts';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import { openRedaction } from '../user/redaction.ts';
import { openSharedStore, type SharedStore } from '../workspace/shared-store.ts';
import { guardPolicies } from './coding.ts';
import { type HookHost, withGoverned } from './governed.ts';
import { findWorkFolder, homeFolder } from './place.ts';
import { forgetOldSessions } from './retention.ts';
import { readGuardRules } from './rules.ts';
import { withReportedRuns } from './runs.ts';
import { toSessionId } from './session-id.ts';

/** Small, so that a hook reads little however long its session is. */
const snapshotAfterBytes = 128 * 1024;

/** A session in whose log this process alone may write, until `end`. */
export interface OpenGuard {
  readonly guard: Guard;
  readonly session: Session;
  /** Of its log. */
  readonly path: string;
  end(): Promise<void>;
}

/**
 * The guard of an agent's session. Hooks that run at once take turns: each has the log to itself.
 *
 * @throws HoldfastError `log.locked` when that takes too long, and those of the log.
 */
export async function openGuard(
  agent: Agent,
  input: HookInput,
  host: HookHost,
  options: TurnOptions,
): Promise<OpenGuard> {
  const file = findLog(agent, input, host);
  const { createFor, store } = await prepareGuard(agent, input, host);
  const { session } = await inTurn(() => openLog(file, store, host), options);
  return { guard: createFor(session), session, path: file.path, end: () => session.close() };
}

export interface LogFile {
  readonly id: string;
  readonly path: string;
}

/** The log of an agent's session, in a folder that only the user can read. */
export function findLog(agent: Agent, { sessionId }: HookInput, host: GuardHost): LogFile {
  const folder = join(guardFolder(host), '.holdfast', 'sessions');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const id = toSessionId(agent.name, sessionId);
  return { id, path: join(folder, `${id}.jsonl`) };
}

export interface PreparedGuard {
  readonly createFor: (session: Session) => Guard;
  /** Where its session is kept; `undefined`: in a file. */
  readonly store: SharedStore | undefined;
}

/** Reads the rules that hold for a call: before its log is locked, since other hooks wait for that. */
export async function prepareGuard(
  agent: Agent,
  { sessionId, cwd }: HookInput,
  host: HookHost,
): Promise<PreparedGuard> {
  const { folder, workspace } = findWorkFolder(resolve(host.directory, cwd), existsSync);
  const files = await readGuardRules(workspace, host);
  const view = { folder, workspace, home: homeFolder(host), disk: nodeDisk(workspace) };
  const facts = createFacts({ describers: agent.describers, view });
  const policies = guardPolicies({ agent: agent.name, files }, host);
  const store = files.store === undefined ? undefined : await openSharedStore(files.store);
  const createFor = (session: Session): Guard => {
    const deciding = createGuard({ session, policies, facts });
    const place = { session, sessionId: toSessionId(agent.name, sessionId), host, clock: systemClock };
    const keeping =
      files.checkpoints === true && existsSync(join(workspace, '.git'))
        ? withCheckpoints(deciding, { ...place, workspace, describe: (call) => describeCall(facts, call, folder) })
        : deciding;
    return withGoverned(withReportedRuns(keeping, { session, cwd, workspace, host }), { session, host });
  };
  return { createFor, store };
}

export interface OpenLog {
  readonly session: Session;
  /** Of a file, which can be let go of without closing it. */
  readonly log?: JsonlLog;
}

/** @throws HoldfastError `log.locked`, and those of the log. */
export async function openLog(
  { id, path }: LogFile,
  store: SharedStore | undefined,
  host: GuardHost,
): Promise<OpenLog> {
  const options = { id, slices: [decisions] };
  if (store !== undefined) {
    const redaction = await openRedaction(path, host);
    return { session: await openSession(store.logs({ snapshotAfterBytes }), { ...options, ...redaction }) };
  }
  // Once a session.
  if (!existsSync(path)) await forgetOldSessions(host, Date.now());
  const redaction = await openRedaction(path, host);
  const opened = jsonlStore(path, { snapshotAfterBytes }).open();
  const session = await openSession({ open: () => opened }, { ...options, ...redaction });
  return { session, log: opened.store };
}

/** The facts of a call, in its own folder. */
function describeCall(facts: FactsSource, { id = '', name, input, cwd }: GuardedCall, folder: string): CallFacts {
  // Describers read the name of a tool alone.
  const prepared = { id, tool: { name }, input } as unknown as PreparedCall;
  return facts.describe(prepared, { ...facts.view, folder: cwd ?? folder });
}
