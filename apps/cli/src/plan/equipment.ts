import type { Isolation } from '@holdfast/loader';
import type { RunTerms } from '../run/terms.ts';
import type { ApprovalMode } from '../settings/choices.ts';
import { toConfigRecord } from '../settings/config-record.ts';
import type { EnvironmentConsent } from '../settings/environment-consent.ts';
import { type Equipment, openEquipment } from '../settings/equipment.ts';
import {
  type ConfigFlag,
  findFolder,
  findLimits,
  findModelName,
  type RunLimits,
  readSettings,
  toLimits,
} from '../settings/settings.ts';
import type { Host } from '../terminal/host.ts';
import { openWorkspace } from '../workspace/folder.ts';
import { type PlanSetup, setUpPlan } from './setup.ts';

/** What every command about a plan that is to run is given. */
export interface PlanPlace {
  /** Absent: that of the current directory, when there is one. */
  readonly config?: ConfigFlag;
  /** Says yes to code that is found. */
  readonly trust?: boolean | undefined;
  /** Whether stdin or stdout carries something else than questions. */
  readonly stdinTaken?: boolean;
  readonly json?: boolean;
  /** Only the result goes to stdout. */
  readonly quiet?: boolean;
  /** Absent: the default folder, when there is one. */
  readonly tools: string | undefined;
  /** Reads the folders in it, too. Absent, as all that follows: as the configuration says. */
  readonly subfolders: boolean | undefined;
  /** Refuses to go on without a lock. */
  readonly locked: boolean | undefined;
  /** The weakest isolation that tools of the folder run in. */
  readonly isolation: Isolation | undefined;
  readonly workspace: string;
  /** As `run` takes it. */
  readonly model?: string | undefined;
  /** Dangerous tools that need no approval. */
  readonly allow: readonly string[];
}

/** How a plan is run, beside that. */
export interface PlanRunOptions extends PlanPlace, Pick<RunLimits, 'maxCalls' | 'timeoutMs' | 'approvalTimeoutMs'> {
  readonly approval: ApprovalMode;
  /** Environment variables for the tool files that declare them. */
  readonly environment: readonly string[];
  /** How many nodes may run at once. Absent: as the runtime has it. */
  readonly concurrency: number | undefined;
  readonly json: boolean;
  /** Keeps secrets out of the log. */
  readonly redact: boolean;
}

/** What is opened for a plan. */
export interface PlanWorkshop {
  /** Its real path. */
  readonly workspace: string;
  readonly equipment: Equipment;
  readonly setup: PlanSetup;
}

/**
 * Opens what plans are checked against, as `run` does it, for as long as `work` takes.
 *
 * @throws HoldfastError `usage.*`, `config.*`, `registry.*`, `plugin.*`, `pack.*`, `tools.lock.*`.
 */
export async function openWorkshop<Answer>(
  place: PlanPlace & Partial<RunLimits> & { readonly consent?: EnvironmentConsent },
  host: Host,
  work: (workshop: PlanWorkshop) => Promise<Answer>,
): Promise<Answer> {
  const { config, trust, tools, subfolders, locked, isolation, model, maxCalls, timeoutMs, approvalTimeoutMs } = place;
  const workspace = await openWorkspace(place.workspace, host.directory);
  const taken = { stdin: place.stdinTaken === true, stdout: place.json === true || place.quiet === true };
  const limits = toLimits({ maxRounds: undefined, maxTokens: undefined, maxCalls, timeoutMs, approvalTimeoutMs });
  const settings = await readSettings(
    { config, tools, subfolders, locked, isolation, model, limits },
    { workspace, host, found: { untrusted: 'refuse', trust, tools: true, taken } },
  );
  const folder = await findFolder(settings);
  const { consent } = place;
  const given = consent === undefined ? {} : { environment: consent };
  const equipment = await openEquipment(settings, folder, given, host);
  try {
    return await work({ workspace, equipment, setup: await setUpPlan(equipment, place, workspace, host) });
  } finally {
    await equipment.close();
  }
}

/** What a plan is run with, as its log keeps it. No model takes part. */
export async function toPlanTerms(
  { approval, allow, concurrency, redact }: PlanRunOptions,
  equipment: Equipment,
): Promise<RunTerms> {
  const { settings, toolset } = equipment;
  const { isolation, subfolders } = settings.effective;
  const { maxCalls, timeoutMs, approvalTimeoutMs } = findLimits(settings);
  return {
    directory: settings.directory,
    model: findModelName(settings),
    tools: toolset.folder.path === undefined ? null : toolset.folder.name,
    subfolders: subfolders.value,
    // A lock that goes missing while the plan waits does not let it go on with anything else.
    locked: toolset.isLocked,
    isolation: isolation.origin.layer === 'default' ? undefined : isolation.value,
    config: await toConfigRecord(equipment),
    approval,
    allow,
    order: [],
    maxCalls,
    timeoutMs,
    approvalTimeoutMs,
    maxConcurrency: concurrency,
    redact: redact ? undefined : false,
  };
}
