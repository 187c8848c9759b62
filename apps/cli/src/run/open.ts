import type { Isolation } from '@holdfast/loader';
import type { Session } from '@holdfast/session';
import type { ApprovalMode } from '../settings/choices.ts';
import { toConfigRecord } from '../settings/config-record.ts';
import { type EnvironmentConsent, learnGranted } from '../settings/environment-consent.ts';
import { type Equipment, openEquipment } from '../settings/equipment.ts';
import {
  type ConfigFlag,
  findFolder,
  findLimits,
  findModelName,
  type RunLimits,
  readSettings,
  type Settings,
  toLimits,
} from '../settings/settings.ts';
import type { Host } from '../terminal/host.ts';
import { openWorkspace } from '../workspace/folder.ts';
import { createSessionId } from '../workspace/session-logs.ts';
import { beginSession, closeSession } from './session.ts';
import { type RunTerms, toTermsRecord } from './terms.ts';

/** The options that determine tools, configuration and model. */
export interface WorkPlace extends Partial<RunLimits> {
  /** Default: the configuration of the current directory, if any. */
  readonly config?: ConfigFlag;
  /** Trusts found code. */
  readonly trust?: boolean | undefined;
  /** Default: the default folder, if it exists. */
  readonly tools?: string | undefined;
  /** Reads subfolders, too. Default, here and below: from the configuration. */
  readonly subfolders?: boolean | undefined;
  /** Requires a lock. */
  readonly locked?: boolean | undefined;
  /** The minimum isolation of tool files. */
  readonly isolation?: Isolation | undefined;
  /** A name for `openModel`. */
  readonly model?: string | undefined;
  readonly workspace: string;
  /** Dangerous tools that need no approval. */
  readonly allow: readonly string[];
  readonly json: boolean;
  /** Prints only the answer to stdout. */
  readonly quiet?: boolean;
}

/** All options of a run or plan. */
export interface WorkGiven extends WorkPlace {
  readonly approval: ApprovalMode;
  /** Environment variables for the tool files that declare them. */
  readonly environment: readonly string[];
  /** Orders of tool names, first to last. */
  readonly order?: readonly (readonly string[])[];
  /** For a plan: maximum number of parallel nodes. */
  readonly concurrency?: number | undefined;
  /** Masks secrets in the log. */
  readonly redact: boolean;
}

export interface OpenedWork {
  /** The real path. */
  readonly workspace: string;
  readonly equipment: Equipment;
}

export interface WorkOpening {
  /** True if stdin is not available for answers. */
  readonly stdinTaken: boolean;
  /** Access of tool files to the environment. Default: none. */
  readonly consent?: EnvironmentConsent;
  /** Completes the settings. */
  settle?(settings: Settings): Promise<Settings>;
}

/**
 * Opens settings, tools and plugins for the duration of `work`.
 *
 * @throws HoldfastError `usage.*`, `config.*`, `registry.*`, `plugin.*`, `pack.*`, `lock.*`.
 */
export async function openWork<Answer>(
  place: WorkPlace,
  { stdinTaken, consent, settle }: WorkOpening,
  host: Host,
  work: (opened: OpenedWork) => Promise<Answer>,
): Promise<Answer> {
  const { config, trust, tools, subfolders, locked, isolation, model, json, quiet = false } = place;
  const workspace = await openWorkspace(place.workspace, host.directory);
  const taken = { stdin: stdinTaken, stdout: json || quiet };
  const read = await readSettings(
    { config, tools, subfolders, locked, isolation, model, limits: toLimits(place) },
    { workspace, host, found: { untrusted: 'refuse', trust, tools: true, taken } },
  );
  const settings = (await settle?.(read)) ?? read;
  const given = consent === undefined ? {} : { environment: consent };
  const equipment = await openEquipment(settings, await findFolder(settings), given, host);
  try {
    return await work({ workspace, equipment });
  } finally {
    await equipment.close();
  }
}

/** The options of a run or plan, as recorded in its log. */
export async function toTerms(given: WorkGiven, equipment: Equipment): Promise<RunTerms> {
  const { approval, allow, order = [], concurrency, redact } = given;
  const { settings, toolset } = equipment;
  const { isolation, subfolders } = settings.effective;
  return {
    directory: settings.directory,
    model: findModelName(settings),
    tools: toolset.folder.path === undefined ? null : toolset.folder.name,
    subfolders: subfolders.value,
    // If the lock goes missing while the run is suspended, it must not resume without one.
    locked: toolset.isLocked,
    isolation: isolation.origin.layer === 'default' ? undefined : isolation.value,
    config: await toConfigRecord(equipment),
    approval,
    allow,
    order,
    ...findLimits(settings),
    maxConcurrency: concurrency,
    redact: redact ? undefined : false,
  };
}

/** Runs `work` in a new session and records its terms. */
export async function inNewSession<Answer>(
  terms: RunTerms,
  { workspace, equipment, silent }: OpenedWork & { readonly silent: boolean },
  host: Host,
  work: (session: Session) => Promise<Answer>,
): Promise<Answer> {
  const id = createSessionId({ clock: host.clock, suffix: host.createSuffix() });
  const session = await beginSession(id, { workspace, redact: terms.redact !== false }, host);
  learnGranted(session, equipment.environment);
  try {
    session.record(toTermsRecord(terms));
    return await work(session);
  } finally {
    await closeSession(session, { workspace, silent }, host);
  }
}
