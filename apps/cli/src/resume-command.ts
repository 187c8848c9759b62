import { HoldfastError } from '@holdfast/core';
import type { Isolation } from '@holdfast/loader';
import type { OpenRun, Session } from '@holdfast/session';
import { conductRun, describeStyle } from './conduct-run.ts';
import { type ExitCode, usageError } from './failure.ts';
import type { Host } from './host.ts';
import { openSession } from './open-session.ts';
import { closeSession, type RunLimits } from './run-command.ts';
import { setUpRun } from './run-setup.ts';
import { type ApprovalMode, type RunTerms, readTerms } from './run-terms.ts';
import { readUse, remainingTerms } from './run-use.ts';
import { findLog } from './session-logs.ts';
import { findToolsFolder } from './toolset.ts';
import { openWorkspace } from './workspace.ts';

/** What is absent is as the run was given it. */
export interface ResumeOptions extends RunLimits {
  /** Absent: the newest session. */
  readonly id: string | undefined;
  readonly workspace: string;
  readonly json: boolean;
  readonly tools: string | undefined;
  readonly isolation: Isolation | undefined;
  readonly model: string | undefined;
  readonly approval: ApprovalMode | undefined;
  /** Beside those that the run was given. */
  readonly allow: readonly string[];
}

/**
 * Goes on with a run that waits, or whose process ended, as it was begun, and shows it.
 *
 * @throws HoldfastError `usage.*`, `run.not_open`, `log.*`, `replay.*`, and what model and prompt throw.
 */
export async function resumeSession(options: ResumeOptions, host: Host): Promise<ExitCode> {
  const workspace = await openWorkspace(options.workspace, host.directory);
  const log = await findLog(workspace, options.id);
  const session = openSession(log, workspace, host);
  try {
    const { run } = findRun(session);
    const given = readTerms(session.records(), run);
    if (given === undefined) {
      throw usageError(
        'usage.run_foreign',
        `The run of session \`${log.id}\` was not made by \`holdfast run\`, so what it works with is not known here: go on with it in its own program, by \`resumeRun\`.`,
      );
    }
    const { terms, folder, modelDirectory } = await mergeTerms(given, options, host);
    const remaining = remainingTerms(terms, readUse(session.records(run), run));
    const setup = await setUpRun(terms, { workspace, folder, modelDirectory }, host);
    const { colors } = describeStyle(host);
    if (!options.json) host.stdout.write(`${colors.dim(`${setup.description}${describeApproval(terms)}`)}\n`);
    const work = { type: 'resume', run } as const;
    return await conductRun({ setup, terms: remaining, session, work, json: options.json, stdinTaken: false }, host);
  } finally {
    await closeSession(session, { workspace, json: options.json }, host);
  }
}

function findRun(session: Session): OpenRun {
  const { runs, calls } = session.openWork();
  const run = runs.at(-1);
  if (run !== undefined) return run;
  const direct = calls.some((call) => call.run === undefined);
  throw new HoldfastError(
    'run.not_open',
    direct
      ? `The calls of session \`${session.id}\` that wait belong to no run: go on with them in the program that made them, by \`resumeToolCall\`.`
      : `No run of session \`${session.id}\` waits or was interrupted: there is nothing to go on with. \`holdfast pending\` lists what waits.`,
    { data: { sessionId: session.id } },
  );
}

/** What the run was given, with what is changed now. */
async function mergeTerms(
  given: RunTerms,
  { tools, isolation, model, approval, allow, ...limits }: ResumeOptions,
  host: Host,
): Promise<{
  readonly terms: RunTerms;
  readonly folder: Awaited<ReturnType<typeof findToolsFolder>>;
  readonly modelDirectory: string;
}> {
  const { maxRounds, maxCalls, maxTokens, timeoutMs, approvalTimeoutMs } = limits;
  return {
    terms: {
      ...given,
      isolation: isolation ?? given.isolation,
      model: model ?? given.model,
      approval: approval ?? toLaterMode(given.approval),
      allow: [...new Set([...given.allow, ...allow])],
      maxRounds: maxRounds ?? given.maxRounds,
      maxCalls: maxCalls ?? given.maxCalls,
      maxTokens: maxTokens ?? given.maxTokens,
      timeoutMs: timeoutMs ?? given.timeoutMs,
      approvalTimeoutMs: approvalTimeoutMs ?? given.approvalTimeoutMs,
    },
    folder:
      tools === undefined
        ? await findToolsFolder(given.tools, given.directory)
        : await findToolsFolder(tools, host.directory),
    modelDirectory: model === undefined ? given.directory : host.directory,
  };
}

/** A run that was to wait is gone on with by somebody who may be asked. */
function toLaterMode(mode: ApprovalMode): ApprovalMode {
  return mode === 'suspend' ? 'ask' : mode;
}

/** What the run may do unasked, which nobody has typed this time. */
function describeApproval({ isolation, approval, allow }: RunTerms): string {
  const parts = [
    ...(approval === 'yes' ? ['--yes'] : approval === 'unattended' ? ['--unattended'] : []),
    ...(isolation === undefined ? [] : [`--isolation ${isolation}`]),
    ...allow.map((name) => `--allow ${name}`),
  ];
  return parts.length === 0 ? '' : ` · ${parts.join(' ')}`;
}
