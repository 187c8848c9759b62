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

/** What calls are made with, as a command is given it. */
export interface WorkPlace extends Partial<RunLimits> {
  /** Absent: that of the current directory, when there is one. */
  readonly config?: ConfigFlag;
  /** Says yes to code that is found. */
  readonly trust?: boolean | undefined;
  /** Absent: the default folder, when there is one. */
  readonly tools?: string | undefined;
  /** Reads the folders in it, too. Absent, as all that follows: as the configuration says. */
  readonly subfolders?: boolean | undefined;
  /** Refuses to go on without a lock. */
  readonly locked?: boolean | undefined;
  /** The weakest isolation that tools of the folder run in. */
  readonly isolation?: Isolation | undefined;
  /** As `openModel` takes it. */
  readonly model?: string | undefined;
  readonly workspace: string;
  /** Dangerous tools that need no approval. */
  readonly allow: readonly string[];
  readonly json: boolean;
  /** Only the answer goes to stdout. */
  readonly quiet?: boolean;
}

/** How calls are made, beside that. */
export interface WorkGiven extends WorkPlace {
  readonly approval: ApprovalMode;
  /** Environment variables for the tool files that declare them. */
  readonly environment: readonly string[];
  /** Names of tools from first to last. */
  readonly order?: readonly (readonly string[])[];
  /** Of a plan: how many of its nodes may run at once. Absent: as the runtime has it. */
  readonly concurrency?: number | undefined;
  /** Keeps secrets out of the log. */
  readonly redact: boolean;
}

export interface OpenedWork {
  /** Its real path. */
  readonly workspace: string;
  readonly equipment: Equipment;
}

export interface WorkOpening {
  /** Whether it carries something else than answers. */
  readonly stdinTaken: boolean;
  /** What tool files may see of the environment. Absent: nothing. */
  readonly consent?: EnvironmentConsent;
  /** Settles what the settings leave open. */
  settle?(settings: Settings): Promise<Settings>;
}

/**
 * Opens what calls are made with, for as long as `work` takes.
 *
 * @throws HoldfastError `usage.*`, `config.*`, `registry.*`, `plugin.*`, `pack.*`, `tools.lock.*`.
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

/** What work is given, as its log keeps it. */
export async function toTerms(given: WorkGiven, equipment: Equipment): Promise<RunTerms> {
  const { approval, allow, order = [], concurrency, redact } = given;
  const { settings, toolset } = equipment;
  const { isolation, subfolders } = settings.effective;
  return {
    directory: settings.directory,
    model: findModelName(settings),
    tools: toolset.folder.path === undefined ? null : toolset.folder.name,
    subfolders: subfolders.value,
    // A lock that goes missing while the work waits does not let it go on with anything else.
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

/** Does work in a session of its own, whose log keeps what it was given. */
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
