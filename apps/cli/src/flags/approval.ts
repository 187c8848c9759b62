import type { Isolation } from '@holdfast/loader';
import { type Command, Option } from 'commander';
import { type ApprovalMode, isolationTiers } from '../settings/choices.ts';
import type { RunLimits } from '../settings/settings.ts';
import { collect, collectVariables, environmentText, readCount, readSeconds } from './values.ts';

/** Options that `run` and `resume` have in common. */
export interface GoingFlags {
  readonly isolation?: Isolation;
  readonly yes?: boolean;
  readonly unattended?: boolean;
  readonly suspend?: boolean;
  readonly allow?: readonly string[];
  readonly env?: readonly string[];
  readonly approvalTimeout?: number;
  readonly maxRounds?: number;
  readonly maxCalls?: number;
  readonly maxTokens?: number;
  readonly timeout?: number;
  /** Of `run` and `plan`: `--no-redact`. */
  readonly redact?: boolean;
  readonly quiet?: boolean;
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

/** The way that was given. */
export function readApproval({ yes, unattended, suspend }: GoingFlags): ApprovalMode | undefined {
  if (yes === true) return 'yes';
  if (unattended === true) return 'unattended';
  return suspend === true ? 'suspend' : undefined;
}

export function readLimits({ maxRounds, maxCalls, maxTokens, timeout, approvalTimeout }: GoingFlags): RunLimits {
  return {
    maxRounds,
    maxCalls,
    maxTokens,
    timeoutMs: toMilliseconds(timeout),
    approvalTimeoutMs: toMilliseconds(approvalTimeout),
  };
}

function toMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
