import { HoldfastError, isHoldfastError } from '@holdfast/core';
import type { Isolation } from '@holdfast/loader';
import { createSession, type Session } from '@holdfast/session';
import { describeStyle } from '../calls/line.ts';
import type { ApprovalMode } from '../settings/choices.ts';
import { toConfigRecord } from '../settings/config-record.ts';
import { learnGranted, openEnvironment, toEnvironmentOptions } from '../settings/environment-consent.ts';
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
import type { ExitCode } from '../terminal/failure.ts';
import { findQuestionStream, type Host } from '../terminal/host.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';
import { toCommand } from '../terminal/words.ts';
import { rememberNamed } from '../trust/trust.ts';
import { openRedaction } from '../user/redaction.ts';
import { openWorkspace } from '../workspace/folder.ts';
import { rememberWorkspace } from '../workspace/known.ts';
import { createSessionId, prepareLogPath } from '../workspace/session-logs.ts';
import { conductRun } from './conduct.ts';
import { type RunSetup, setUpRun } from './setup.ts';
import { type RunTerms, toTermsRecord } from './terms.ts';

export interface RunOptions extends RunLimits {
  /** Absent: that of the current directory, when there is one. */
  readonly config?: ConfigFlag;
  /** Says yes to code that is found. */
  readonly trust?: boolean | undefined;
  readonly request: string;
  /** Whether the request came from there, so that no answer can. */
  readonly stdinTaken: boolean;
  /** Absent: the default folder, when there is one. */
  readonly tools: string | undefined;
  /** Reads the folders in it, too. Absent, as all that follows: as the configuration says. */
  readonly subfolders: boolean | undefined;
  /** Refuses to run without a lock. */
  readonly locked: boolean | undefined;
  /** The weakest isolation that tools of the folder run in. */
  readonly isolation: Isolation | undefined;
  readonly workspace: string;
  /** As `openModel` takes it. */
  readonly model: string | undefined;
  readonly json: boolean;
  /** Only the answer goes to stdout. */
  readonly quiet?: boolean;
  readonly approval: ApprovalMode;
  /** Dangerous tools that need no approval. */
  readonly allow: readonly string[];
  /** Environment variables for the tool files that declare them. */
  readonly environment: readonly string[];
  /** Names of tools from first to last. */
  readonly order: readonly (readonly string[])[];
  /** Keeps secrets out of the log. */
  readonly redact: boolean;
}

/**
 * Gives a request to a model with the tools of the folder and of the workspace, shows the run and records it.
 *
 * @throws HoldfastError `usage.*`, `config.*`, `registry.*`, `plugin.*`, `pack.*`, and what model, prompt or session log throw before the run begins.
 */
export async function runRequest(options: RunOptions, host: Host): Promise<ExitCode> {
  const workspace = await openWorkspace(options.workspace, host.directory);
  const { config, trust, tools, subfolders, locked, isolation, model } = options;
  const taken = { stdin: options.stdinTaken, stdout: options.json || options.quiet === true };
  const found = await readSettings(
    { config, tools, subfolders, locked, isolation, model, limits: toLimits(options) },
    {
      workspace,
      host,
      found: { untrusted: 'refuse', trust, tools: true, taken },
    },
  );
  const settings = await settleModel(found, options, host);
  const folder = await findFolder(settings);
  const environment = await openEnvironment(toEnvironmentOptions(options), host);
  const equipment = await openEquipment(settings, folder, { environment }, host);
  try {
    const terms = await toTerms(options, equipment);
    await rememberNamed(settings, host);
    await using setup = await setUpRun(equipment, terms, { workspace, modelDirectory: host.directory }, host);
    return await begin(options, { setup, terms, workspace, equipment }, host);
  } finally {
    await equipment.close();
  }
}

/** Where neither the command line nor a file names a model, the user at the terminal may have one that is found here. */
async function settleModel(
  settings: Settings,
  { approval, json, quiet = false, stdinTaken }: RunOptions,
  host: Host,
): Promise<Settings> {
  const { effective } = settings;
  const taken = { stdin: stdinTaken, stdout: quiet };
  const isNamed = effective.model.origin.layer !== 'default';
  if (isNamed || json || findQuestionStream(host, taken) === undefined) return settings;
  const { chooseModel } = await import('./choose-model.ts');
  const model = await chooseModel({ taken, asks: approval === 'ask' }, host);
  if (model === undefined) return settings;
  return { ...settings, effective: { ...effective, model: { value: model, origin: { layer: 'command line' } } } };
}

interface Begun {
  readonly setup: RunSetup;
  readonly terms: RunTerms;
  readonly workspace: string;
  readonly equipment: Equipment;
}

async function begin(
  options: RunOptions,
  { setup, terms, workspace, equipment }: Begun,
  host: Host,
): Promise<ExitCode> {
  const { request, json, quiet = false, stdinTaken } = options;
  if (!json && !quiet) describeSetup(setup, host);
  const id = createSessionId({ clock: host.clock, suffix: host.createSuffix() });
  const session = await beginSession(id, { workspace, redact: terms.redact !== false }, host);
  learnGranted(session, equipment.environment);
  try {
    session.record(toTermsRecord(terms));
    const work = { type: 'start', input: request } as const;
    return await conductRun({ setup, terms, session, work, json, quiet, stdinTaken }, host);
  } finally {
    await closeSession(session, { workspace, silent: json || quiet }, host);
  }
}

/** What takes part, and at a terminal what has to be known of the model. */
function describeSetup({ about, description }: RunSetup, host: Host): void {
  const { colors, columns } = describeStyle(host);
  if (about !== undefined && host.stdout.isTTY === true) {
    for (const line of wrapBlock(toPrintable(about), columns)) host.stdout.write(`${line}\n`);
  }
  host.stdout.write(`${colors.dim(description)}\n`);
}

async function toTerms({ approval, allow, order, redact }: RunOptions, equipment: Equipment): Promise<RunTerms> {
  const { settings, toolset } = equipment;
  const { isolation } = settings.effective;
  return {
    directory: settings.directory,
    model: findModelName(settings),
    tools: toolset.folder.path === undefined ? null : toolset.folder.name,
    subfolders: settings.effective.subfolders.value,
    // A lock that goes missing while the run waits does not let it go on with anything else.
    locked: toolset.isLocked,
    isolation: isolation.origin.layer === 'default' ? undefined : isolation.value,
    config: await toConfigRecord(equipment),
    approval,
    allow,
    order,
    redact: redact ? undefined : false,
    ...findLimits(settings),
  };
}

/** Begins a session with a log in the workspace. @throws HoldfastError `log.*`, and as `openRedaction`. */
export async function beginSession(
  id: string,
  { workspace, redact }: { readonly workspace: string; readonly redact: boolean },
  host: Host,
): Promise<Session> {
  const path = await prepareLogPath(workspace, id);
  const redaction = redact ? await openRedaction(path, host).catch(addWayOut) : {};
  const store = await host.openLog(path);
  await rememberWorkspace(workspace, host);
  return createSession({ ...redaction, id, store, clock: host.clock });
}

function addWayOut(thrown: unknown): never {
  if (!isHoldfastError(thrown) || !thrown.code.startsWith('user_folder.')) throw thrown;
  const hint = 'Redaction keeps its key there. `--no-redact` does without: the log then has secrets in clear.';
  throw new HoldfastError(thrown.code, thrown.message, { data: { hint }, cause: thrown });
}

/** Closes the session of a run, and says where its log is unless it is to be `silent`. */
export async function closeSession(
  session: Session,
  { workspace, silent }: { readonly workspace: string; readonly silent: boolean },
  host: Host,
): Promise<void> {
  // What calls have left open for the session gets its time to end: a first signal does not cut that short.
  const stopListening = host.onInterrupt(() => undefined);
  try {
    await session.close();
  } finally {
    stopListening();
    if (!silent) {
      const { colors } = describeStyle(host);
      const show = toCommand({ words: ['show', session.id], workspace }, host);
      host.stdout.write(`${colors.dim(`session log: ${show}`)}\n`);
    }
  }
}
