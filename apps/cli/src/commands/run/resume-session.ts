import { resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { Isolation } from '@holdfast/loader';
import { defaultIsolation } from '@holdfast/loader/internal';
import type { Session } from '@holdfast/session';
import { describeStyle } from '../../calls/line.ts';
import { type FindSlices, openSession } from '../../logs/open-session.ts';
import { packagesOfModel } from '../../models/local.ts';
import { conductPlan } from '../../plan/conduct.ts';
import { setUpPlan } from '../../plan/setup.ts';
import { conductRun } from '../../run/conduct.ts';
import type { WorkGiven } from '../../run/open.ts';
import { closeSession } from '../../run/session.ts';
import { setUpRun } from '../../run/setup.ts';
import { type RunTerms, readTerms } from '../../run/terms.ts';
import { readUse, remainingTerms } from '../../run/use.ts';
import { type ApprovalMode, isolationTiers } from '../../settings/choices.ts';
import { checkSameConfig, toConfigRecord } from '../../settings/config-record.ts';
import { learnGranted, openEnvironment, toEnvironmentOptions } from '../../settings/environment-consent.ts';
import { type Equipment, listSlices, openEquipment, reportProblems } from '../../settings/equipment.ts';
import { type ConfigFlag, readSettings, type Settings } from '../../settings/settings.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { demandTrust, type FoundUse, type TrustPlace, toNamedPackage, wasNamed } from '../../trust/trust.ts';
import { findSession } from '../../workspace/known.ts';
import { findToolsFolder } from '../../workspace/toolset.ts';

/** Options that are absent keep the values of the run. */
export interface ResumeOptions extends Omit<WorkGiven, 'approval' | 'redact'> {
  /** The session id. Default: the newest session. */
  readonly id: string | undefined;
  /** Continues even if plugins, packs or tool lists have changed. */
  readonly acceptConfig?: boolean;
  readonly approval: ApprovalMode | undefined;
}

/**
 * Resumes a suspended or interrupted run or plan with its original settings, and shows it.
 *
 * @throws HoldfastError `usage.*`, `work.not_open`, `run.config.changed`, `log.*`, `replay.*`, `config.*`, `registry.*`, `plugin.*`,
 * `pack.*`, what model and prompt throw, and as `resumePlan`.
 */
export async function resumeSession(options: ResumeOptions, host: Host): Promise<ExitCode> {
  const { json, quiet = false } = options;
  const silent = json || quiet;
  const log = await findSession(options, host);
  const { workspace } = log;
  let opened: OpenedTerms | undefined;
  const open = async (given: RunTerms): Promise<OpenedTerms> => {
    opened ??= await openTerms(given, options, { workspace, host });
    return opened;
  };
  // Plugins that keep state in the session are needed before it can be opened.
  const findSlices: FindSlices = async (records) => {
    const given = readTerms(records, Number.POSITIVE_INFINITY);
    return given === undefined ? [] : listSlices((await open(given)).equipment.registry);
  };
  try {
    const session = await openSession(log, workspace, host, { findSlices });
    try {
      const { kind, run, digest } = findOpen(session);
      const given = readTerms(session.records(), run);
      if (given === undefined) throw foreign(kind, log.id);
      if (kind === 'plan') checkPlanOptions(options, log.id);
      const { equipment, terms, modelDirectory } = await open(given);
      learnGranted(session, equipment.environment);
      const remaining = remainingTerms(terms, readUse(session.records(run), run));
      const print = (description: string): void => {
        const line = describeStyle(host).colors.dim(`${description}${describeApproval(terms)}`);
        if (!silent) host.stdout.write(`${line}\n`);
      };
      const work = { type: 'resume', run } as const;
      const conduct = { terms: remaining, session, json, quiet, stdinTaken: false };
      if (kind === 'plan') {
        const setup = await setUpPlan(equipment, terms, workspace, host);
        print(`plan ${digest.slice(0, 16)} · ${setup.description}`);
        return await conductPlan(work, { ...conduct, setup }, host);
      }
      await using setup = await setUpRun(equipment, terms, { workspace, modelDirectory }, host);
      print(setup.description);
      return await conductRun(work, { ...conduct, setup }, host);
    } finally {
      await closeSession(session, { workspace, silent }, host);
    }
  } finally {
    await opened?.equipment.close();
  }
}

interface OpenKind {
  readonly kind: 'run' | 'plan';
  readonly run: number;
  /** Only for a plan. */
  readonly digest: string;
}

/** The latest open run or plan. */
function findOpen(session: Session): OpenKind {
  const { runs, plans, calls } = session.openWork();
  const open: readonly OpenKind[] = [
    ...runs.map(({ run }) => ({ kind: 'run' as const, run, digest: '' })),
    ...plans.map(({ run, digest }) => ({ kind: 'plan' as const, run, digest })),
  ].sort((left, right) => left.run - right.run);
  const last = open.at(-1);
  if (last !== undefined) return last;
  const direct = calls.some((call) => call.run === undefined);
  throw new HoldfastError(
    'work.not_open',
    direct
      ? `The pending calls of session \`${session.id}\` do not belong to a run: resume them with \`resumeToolCall\` in the program that made them.`
      : `Session \`${session.id}\` has no suspended or interrupted run. Run \`holdfast pending\` to list the sessions that do.`,
    { data: { reason: 'run', sessionId: session.id } },
  );
}

function foreign(kind: OpenKind['kind'], id: string): HoldfastError {
  const [made, on] = kind === 'run' ? ['run', 'resumeRun'] : ['plan', 'resumePlan'];
  return usageError(
    'run_foreign',
    `The ${kind} of session \`${id}\` was not started by \`holdfast ${made}\`, so its tools are unknown here: resume it with \`${on}\` in its own program.`,
  );
}

/** Rejects options that only apply to a model. */
function checkPlanOptions({ model, maxRounds, maxTokens }: ResumeOptions, id: string): void {
  const given = [
    ...(model === undefined ? [] : ['--model']),
    ...(maxRounds === undefined ? [] : ['--max-rounds']),
    ...(maxTokens === undefined ? [] : ['--max-tokens']),
  ];
  if (given.length === 0) return;
  throw usageError(
    'option_unused',
    `\`${given.join('` and `')}\` only applies to runs with a model, and session \`${id}\` resumes a plan: remove it.`,
  );
}

interface OpenedTerms {
  readonly equipment: Equipment;
  /** The terms of the run, with the changes made now. */
  readonly terms: RunTerms;
  readonly modelDirectory: string;
}

/** Reopens what the run was started with. */
async function openTerms(
  given: RunTerms,
  options: ResumeOptions,
  { workspace, host }: { readonly workspace: string; readonly host: Host },
): Promise<OpenedTerms> {
  const { tools, model, approval, allow } = options;
  const terms: RunTerms = {
    ...given,
    isolation: options.isolation ?? given.isolation,
    model: model ?? given.model,
    approval: approval ?? toLaterMode(given.approval),
    allow: [...new Set([...given.allow, ...allow])],
    maxRounds: options.maxRounds ?? given.maxRounds,
    maxCalls: options.maxCalls ?? given.maxCalls,
    maxTokens: options.maxTokens ?? given.maxTokens,
    timeoutMs: options.timeoutMs ?? given.timeoutMs,
    approvalTimeoutMs: options.approvalTimeoutMs ?? given.approvalTimeoutMs,
  };
  const folder =
    tools === undefined
      ? await findToolsFolder(given.tools, given.directory)
      : await findToolsFolder(tools, host.directory);
  // A run without a configuration resumes without one.
  const config = findConfig(given, options);
  const place = { directory: given.directory, host };
  const isFound = async (path: string | undefined): Promise<boolean> =>
    path !== undefined && !(await wasNamed(path, place));
  // A log can be forged: names in it count only if this user has named them before.
  const recorded = {
    isConfigFound:
      options.config === undefined && config !== false && (await isFound(resolve(given.directory, config ?? ''))),
    tools: tools === undefined && (await isFound(folder.path)) ? folder.path : undefined,
  };
  const taken = { stdin: false, stdout: options.json || options.quiet === true };
  const found: FoundUse = { untrusted: 'refuse', trust: options.trust, tools: true, recorded, taken };
  if (model === undefined) await demandModel(given.model, found, place);
  const read = await readSettings(
    { config },
    {
      workspace,
      host: options.config === undefined ? { ...host, directory: given.directory } : host,
      found,
    },
  );
  const settings = withIsolation(read, terms.isolation ?? defaultIsolation, options.isolation !== undefined);
  const { locked } = settings.effective;
  const lock = {
    tools: given.locked === true || locked.value ? 'require' : 'use',
    plugins: given.config?.locked === true || locked.value ? 'require' : 'use',
  } as const;
  const environment = await openEnvironment(
    toEnvironmentOptions({ ...options, approval: terms.approval, stdinTaken: false }),
    host,
  );
  const subfolders = given.subfolders === true;
  const equipment = await openEquipment(settings, folder, { lock, subfolders, environment }, host);
  try {
    if (given.config !== undefined && options.acceptConfig !== true)
      checkSameConfig(given.config, await toConfigRecord(equipment));
  } catch (thrown) {
    // Shows why a plugin is missing.
    reportProblems(equipment, host);
    await equipment.close();
    throw thrown;
  }
  const isolation = settings.effective.isolation.value;
  const isSaid = terms.isolation !== undefined || isolation !== defaultIsolation;
  return {
    equipment,
    terms: isSaid ? { ...terms, isolation } : terms,
    modelDirectory: model === undefined ? given.directory : host.directory,
  };
}

/** Like every name in a log, the packages of a model are found code unless this user has named them before. */
async function demandModel(model: string, found: FoundUse, place: TrustPlace): Promise<void> {
  const packages = packagesOfModel(model);
  const named = await Promise.all(packages.map((name) => wasNamed(toNamedPackage(name), place)));
  const specifiers = packages.filter((_, at) => named[at] === false);
  const naming = `\`--model ${model}\``;
  await demandTrust({ names: specifiers, specifiers, tools: undefined }, { ...found, naming }, place);
}

/** Keeps the isolation of the run, unless the workspace now requires more and no option was given. */
function withIsolation(settings: Settings, value: Isolation, isTyped: boolean): Settings {
  const { effective } = settings;
  const { isolation } = effective;
  const isStricter = isolationTiers.indexOf(isolation.value) > isolationTiers.indexOf(value);
  if (!isTyped && isolation.origin.layer === 'workspace' && isStricter) return settings;
  return { ...settings, effective: { ...effective, isolation: { value, origin: { layer: 'command line' } } } };
}

function findConfig({ config }: RunTerms, options: ResumeOptions): ConfigFlag {
  if (options.config !== undefined) return options.config;
  return config?.file ?? false;
}

/** A run that suspended on questions is resumed interactively. */
function toLaterMode(mode: ApprovalMode): ApprovalMode {
  return mode === 'suspend' ? 'ask' : mode;
}

/** Approval settings of the run that were not typed this time. */
function describeApproval({ isolation, approval, allow }: RunTerms): string {
  const parts = [
    ...(approval === 'yes' ? ['--yes'] : approval === 'unattended' ? ['--unattended'] : []),
    ...(isolation === undefined ? [] : [`--isolation ${isolation}`]),
    ...allow.map((name) => `--allow ${name}`),
  ];
  return parts.length === 0 ? '' : ` · ${parts.join(' ')}`;
}
