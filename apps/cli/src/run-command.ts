import type { Isolation } from '@holdfast/loader';
import { createSession, type Session } from '@holdfast/session';
import { toCommand } from './command-words.ts';
import { conductRun, describeStyle } from './conduct-run.ts';
import type { ExitCode } from './failure.ts';
import type { Host } from './host.ts';
import { setUpRun } from './run-setup.ts';
import { type ApprovalMode, type RunTerms, toTermsRecord } from './run-terms.ts';
import { createSessionId, prepareLogPath } from './session-logs.ts';
import { findToolsFolder } from './toolset.ts';
import { openWorkspace } from './workspace.ts';

/** What may be set for a run, and changed when it is gone on with. */
export interface RunLimits {
  readonly maxRounds: number | undefined;
  /** Calls that are run, nested ones included. */
  readonly maxCalls: number | undefined;
  /** Read and written, as the model reports them. */
  readonly maxTokens: number | undefined;
  readonly timeoutMs: number | undefined;
  /** How long a question waits for its answer. */
  readonly approvalTimeoutMs: number | undefined;
}

export interface RunOptions extends RunLimits {
  readonly request: string;
  /** Whether the request came from there, so that no answer can. */
  readonly stdinTaken: boolean;
  /** Absent: the default folder, when there is one. */
  readonly tools: string | undefined;
  /** Reads the folders in it, too. */
  readonly subfolders: boolean;
  /** Refuses to run without a lock. */
  readonly locked: boolean;
  /** The weakest isolation that tools of the folder run in. Absent: what the loader takes. */
  readonly isolation: Isolation | undefined;
  readonly workspace: string;
  /** `offline`, `script:<file>` or `<provider>:<model>`. */
  readonly model: string;
  readonly json: boolean;
  readonly approval: ApprovalMode;
  /** Dangerous tools that need no approval. */
  readonly allow: readonly string[];
  /** Names of tools from first to last. */
  readonly order: readonly (readonly string[])[];
}

/**
 * Gives a request to a model with the tools of the folder and of the workspace, shows the run and records it.
 *
 * @throws HoldfastError `usage.*`, and what model, prompt or session log throw before the run begins.
 */
export async function runRequest(options: RunOptions, host: Host): Promise<ExitCode> {
  const workspace = await openWorkspace(options.workspace, host.directory);
  const folder = await findToolsFolder(options.tools, host.directory);
  const setup = await setUpRun(options, { workspace, folder, modelDirectory: host.directory }, host);
  if (!options.json) host.stdout.write(`${describeStyle(host).colors.dim(setup.description)}\n`);

  const id = createSessionId({ clock: host.clock, suffix: host.createSuffix() });
  const store = host.openLog(await prepareLogPath(workspace, id));
  const session = createSession({ id, store, clock: host.clock });
  const terms = toTerms(options, {
    directory: host.directory,
    tools: folder.path === undefined ? null : folder.name,
    // A lock that goes missing while the run waits does not let it go on with anything else.
    locked: setup.isLocked,
  });
  const { request, json, stdinTaken } = options;
  try {
    session.record(toTermsRecord(terms));
    const work = { type: 'start', input: request } as const;
    return await conductRun({ setup, terms, session, work, json, stdinTaken }, host);
  } finally {
    await closeSession(session, { workspace, json }, host);
  }
}

function toTerms(options: RunOptions, found: Pick<RunTerms, 'directory' | 'tools' | 'locked'>): RunTerms {
  const { subfolders, isolation, model, approval, allow, order } = options;
  const { maxRounds, maxCalls, maxTokens, timeoutMs, approvalTimeoutMs } = options;
  const limits = { maxRounds, maxCalls, maxTokens, timeoutMs, approvalTimeoutMs };
  return { ...found, subfolders, isolation, model, approval, allow, order, ...limits };
}

/** Closes the session of a run, and says where its log is. */
export async function closeSession(
  session: Session,
  { workspace, json }: { readonly workspace: string; readonly json: boolean },
  host: Host,
): Promise<void> {
  // What calls have left open for the session gets its time to end: a first signal does not cut that short.
  const stopListening = host.onInterrupt(() => undefined);
  try {
    await session.close();
  } finally {
    stopListening();
    if (!json) {
      const { colors } = describeStyle(host);
      const show = toCommand({ words: ['show', session.id], workspace }, host);
      host.stdout.write(`${colors.dim(`session log: ${show}`)}\n`);
    }
  }
}
