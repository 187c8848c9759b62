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

/** How calls that need approval are answered: one way or none. */
export function addApprovalOptions(command: Command): Command {
  return command
    .addOption(new Option('--yes', 'approve every call that has to be approved').conflicts(['unattended', 'suspend']))
    .addOption(new Option('--unattended', 'deny every call that has to be approved').conflicts('suspend'))
    .option('--suspend', 'ask nobody: the run waits at a call that has to be approved, for `holdfast approve`')
    .option(
      '--approval-timeout <seconds>',
      'a question counts as denied after this time (default: 24 hours)',
      readSeconds,
    )
    .option('--allow <name>', 'let this dangerous tool run without asking; may be repeated', collect)
    .option('--env <name>', environmentText, collectVariables);
}

/** What is left out of stdout. */
export function addQuietOption(command: Command): Command {
  return command.addOption(
    new Option('--quiet', 'only the answer on stdout; why there is none goes to stderr').conflicts('json'),
  );
}

export function addRedactOption(command: Command): Command {
  return command.option('--no-redact', 'write secrets to the log as they are (default: masks in their place)');
}

/** Where tools of the folder run. `otherwise`: what counts without it. */
export function addIsolationOption(command: Command, otherwise: string): Command {
  return command.addOption(
    new Option(
      '--isolation <tier>',
      `the weakest isolation that tools of the folder run in (default: ${otherwise})`,
    ).choices(isolationTiers),
  );
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--max-rounds <n>', 'end the run after this many messages of the model', readCount)
    .option('--max-calls <n>', 'end the run when it asks for one more call than this, nested calls included', readCount)
    .option('--max-tokens <n>', 'end the run when the model has read and written this many tokens', readCount)
    .option('--timeout <seconds>', 'end the run after this time', readSeconds);
}

/** What the options say of the work. */
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

/** Where tools come from, and where they and the file tools work. */
export function addPlaceOptions(command: Command, locked: string): Command {
  command
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
    .option('--subfolders', subfoldersText)
    .option('--locked', locked)
    .option('--workspace <dir>', 'folder that the file tools work in', '.');
  return addIsolationOption(addTrustOption(addConfigOptions(command)), 'subprocess');
}
