import type { Isolation } from '@holdfast/loader';
import { type Command, Option } from 'commander';
import type { WorkGiven } from '../run/open.ts';
import { type ApprovalMode, isolationTiers } from '../settings/choices.ts';
import { addConfigOptions, addTrustOption, type ConfigFlags } from './config.ts';
import { collect, collectVariables, environmentText, readCount, readSeconds, subfoldersText } from './values.ts';

/** Options of commands that make calls. */
export interface WorkFlags extends ConfigFlags {
  readonly tools?: string;
  readonly subfolders?: boolean;
  readonly locked?: boolean;
  readonly isolation?: Isolation;
  readonly model?: string;
  readonly workspace: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  readonly unattended?: boolean;
  readonly suspend?: boolean;
  readonly allow?: readonly string[];
  readonly env?: readonly string[];
  readonly order?: readonly (readonly string[])[];
  readonly concurrency?: number;
  readonly approvalTimeout?: number;
  readonly maxRounds?: number;
  readonly maxCalls?: number;
  readonly maxTokens?: number;
  readonly timeout?: number;
  /** `--no-redact`. */
  readonly redact?: boolean;
}

/** Options for answering calls that need approval; mutually exclusive. */
export function addApprovalOptions(command: Command): Command {
  return command
    .addOption(new Option('--yes', 'approve every call that needs approval').conflicts(['unattended', 'suspend']))
    .addOption(new Option('--unattended', 'deny every call that needs approval').conflicts('suspend'))
    .option('--suspend', 'suspend the run at a call that needs approval, for `holdfast approve`')
    .option('--approval-timeout <seconds>', 'deny unanswered calls after this time (default: 24 hours)', readSeconds)
    .option('--allow <name>', 'allow this dangerous tool without asking; repeatable', collect)
    .option('--env <name>', environmentText, collectVariables);
}

export function addQuietOption(command: Command): Command {
  return command.addOption(
    new Option('--quiet', 'print only the answer on stdout; errors go to stderr').conflicts('json'),
  );
}

export function addRedactOption(command: Command): Command {
  return command.option('--no-redact', 'log secrets in plain text (default: masked)');
}

/** The isolation of tool files. `otherwise`: the default, for the help. */
export function addIsolationOption(command: Command, otherwise: string): Command {
  return command.addOption(
    new Option('--isolation <tier>', `minimum isolation of tool files (default: ${otherwise})`).choices(isolationTiers),
  );
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--max-rounds <n>', 'maximum number of model messages', readCount)
    .option('--max-calls <n>', 'maximum number of calls, including nested ones', readCount)
    .option('--max-tokens <n>', 'maximum number of input and output tokens', readCount)
    .option('--timeout <seconds>', 'end the run after this time', readSeconds);
}

/** Converts the flags to options of a run. */
export function toWork(
  flags: WorkFlags,
): Omit<WorkGiven, 'approval'> & { readonly approval: ApprovalMode | undefined } {
  const { json = false, quiet = false, redact = true, allow = [], env = [], timeout, approvalTimeout } = flags;
  const limits = { timeoutMs: toMilliseconds(timeout), approvalTimeoutMs: toMilliseconds(approvalTimeout) };
  return { ...flags, ...limits, json, quiet, redact, allow, environment: env, approval: readApproval(flags) };
}

function readApproval({ yes, unattended, suspend }: WorkFlags): ApprovalMode | undefined {
  if (yes === true) return 'yes';
  if (unattended === true) return 'unattended';
  return suspend === true ? 'suspend' : undefined;
}

function toMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Options for tools, configuration and workspace. */
export function addPlaceOptions(command: Command, locked: string): Command {
  command
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, if it exists)')
    .option('--subfolders', subfoldersText)
    .option('--locked', locked)
    .option('--workspace <dir>', 'folder that the file tools can access', '.');
  return addIsolationOption(addTrustOption(addConfigOptions(command)), 'subprocess');
}
