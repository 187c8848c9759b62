import { readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { CallFacts, Clock } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { decisions, type Guard, type GuardDecision, type GuardedCall } from '@holdfast/guard';
import type { Session } from '@holdfast/session';
import type { GuardHost } from '../user/guard-folder.ts';
import {
  checkpointFolder,
  type KeptFile,
  readCheckpoint,
  removeOldCheckpoints,
  writeCheckpoint,
} from './checkpoint.ts';
import { readState } from './state.ts';

export interface KeepLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxBytes: number;
}

/** Of a call. Copying so much takes a part of a second; a hook has eight. */
export const keepLimits: KeepLimits = { maxFiles: 200, maxFileBytes: 5_000_000, maxBytes: 20_000_000 };

export interface KeepPlace {
  readonly session: Session;
  readonly sessionId: string;
  readonly host: GuardHost;
  readonly clock: Clock;
  /** The facts of a call, in its own folder. */
  describe(call: GuardedCall): CallFacts;
  /** The top of the Git worktree that calls run in. */
  readonly workspace: string;
  readonly limits?: KeepLimits;
}

/**
 * A guard that keeps the files that a released call may write or delete in its worktree, right before it runs. A call whose files cannot be
 * kept runs all the same; the log says so.
 */
export function withCheckpoints(guard: Guard, place: KeepPlace): Guard {
  const { session, sessionId, host } = place;
  const decisionOf = ({ id, subAgentId }: Pick<GuardedCall, 'id' | 'subAgentId'>): GuardDecision | undefined => {
    const key = id === undefined || subAgentId === undefined ? id : `${subAgentId}/${id}`;
    return key === undefined ? undefined : session.read(decisions).get(key);
  };
  return {
    prompt: (request) => guard.prompt(request),
    end: () => guard.end(),
    before: async (call) => {
      const known = decisionOf(call);
      const verdict = await guard.before(call);
      const { callId } = decisionOf(call) ?? {};
      const mayRun = verdict.type === 'allow' || (verdict.type === 'ask' && call.agentAsks === true);
      // A call that is told twice may be running.
      const isTold = known?.callId === callId && (known?.verdict === 'allow' || known?.askedBy === 'agent');
      if (!mayRun || callId === undefined || isTold) return verdict;
      const kept = keep(call, callId, place);
      if (kept !== undefined) session.record({ type: 'guard-kept', callId, ...kept, atMs: place.clock.now() });
      return verdict;
    },
    after: async (call, report) => {
      const { callId } = decisionOf(call) ?? {};
      if (callId !== undefined) noteEnd(checkpointFolder(sessionId, callId, host), place.limits ?? keepLimits);
      return await guard.after(call, report);
    },
  };
}

type Kept = { readonly files: number; readonly left: readonly string[] };

/** `undefined`: the call changes nothing in a worktree. */
function keep(call: GuardedCall, callId: string, place: KeepPlace): Kept | undefined {
  const { sessionId, host, clock, workspace, limits = keepLimits } = place;
  const folder = checkpointFolder(sessionId, callId, host);
  const facts = place.describe(call);
  if (facts.writes.length + facts.deletes.length === 0) return undefined;
  try {
    const taken = takeFiles(facts, workspace, limits);
    const { files, copies, left } = taken;
    writeCheckpoint(folder, { callId, workspace, atMs: clock.now(), files, left }, copies);
    removeOldCheckpoints(sessionId, host);
    return { files: files.length, left };
  } catch (thrown) {
    rmSync(folder, { recursive: true, force: true });
    return { files: 0, left: [describeThrown(thrown)] };
  }
}

/** Files and folders that are looked at for a call. */
const maxSeen = 5000;

interface Taken {
  readonly files: readonly KeptFile[];
  readonly copies: ReadonlyMap<string, Uint8Array>;
  readonly left: readonly string[];
}

function takeFiles(facts: CallFacts, workspace: string, limits: KeepLimits): Taken {
  const files = new Map<string, KeptFile>();
  const copies = new Map<string, Uint8Array>();
  const left = new Set<string>();
  let bytes = 0;
  let seen = 0;
  let isFull = false;
  const stop = (why: string): void => {
    isFull = true;
    left.add(why);
  };
  const take = (path: string, recursive: boolean): void => {
    if (isFull || files.has(path)) return;
    seen += 1;
    if (files.size >= limits.maxFiles) stop(`more than ${limits.maxFiles} files`);
    else if (seen > maxSeen) stop(`more than ${maxSeen} files and folders`);
    else takeAt(path, recursive);
  };
  const takeAt = (path: string, recursive: boolean): void => {
    const shown = relative(workspace, path) || '.';
    if (path !== workspace && !isBelow(path, workspace)) {
      left.add(`${shown}: outside of the worktree`);
      return;
    }
    if (shown === '.git' || shown.startsWith('.git/')) {
      left.add('.git: of Git itself');
      return;
    }
    const { state, bytes: content } = readState(path, limits.maxFileBytes);
    if (state.type === 'other') {
      if (state.why !== 'a folder') left.add(`${shown}: ${state.why}`);
      else if (recursive) for (const name of readdirSync(path).toSorted()) take(join(path, name), true);
      return;
    }
    if (content !== undefined && bytes + content.length > limits.maxBytes) {
      stop(`more than ${limits.maxBytes} bytes`);
      return;
    }
    bytes += content?.length ?? 0;
    const copy = content === undefined ? undefined : `${copies.size}`;
    if (copy !== undefined && content !== undefined) copies.set(copy, content);
    files.set(path, { path, before: state, ...(copy === undefined ? {} : { copy }) });
  };
  for (const { path, recursive } of [...facts.deletes, ...facts.writes]) take(path, recursive !== undefined);
  const unknown = facts.unclear.filter(({ kind, use }) => kind !== 'words' || use === undefined || use !== 'reads');
  if (unknown.length > 0) left.add(`files that cannot be told: ${unknown[0]?.reason ?? ''}`);
  return { files: [...files.values()], copies, left: [...left] };
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** Notes how a call left its files: what is another state later was changed since. */
function noteEnd(folder: string, { maxFileBytes }: KeepLimits): void {
  try {
    const kept = readCheckpoint(folder);
    if (kept === undefined || kept.files.every(({ after }) => after !== undefined)) return;
    const files = kept.files.map((file) => ({ ...file, after: readState(file.path, maxFileBytes).state }));
    writeCheckpoint(folder, { ...kept, files }, new Map());
  } catch {
    // The result of a call is not kept back; `undo` refuses files whose end is not known.
  }
}
