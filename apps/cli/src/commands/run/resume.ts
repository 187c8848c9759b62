import type { Command } from 'commander';
import {
  addApprovalOptions,
  addIsolationOption,
  addLimitOptions,
  addQuietOption,
  toWork,
  type WorkFlags,
} from '../../flags/approval.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addConfigOptions, addTrustOption } from '../../flags/config.ts';

const help = `
Examples:
  $ holdfast resume                             the run of the newest session of this folder
  $ holdfast resume 20260517-093012345-k3x9 --workspace ~/project
  $ holdfast resume 20260517-093012345-k3x9 --suspend       run the answered calls and ask nothing
  $ holdfast resume 20260517-093012345-k3x9 --max-calls 100 after the run reached its limit

Model, tools, isolation, order, allowed tools and limits are those of the run unless set here. Limits on rounds, calls and tokens
include what the run has already used; --timeout and --approval-timeout start again.

Plugins, packs and tool lists must be the same, too: if one is missing or configured differently, nothing runs and the exit code is
2, unless you pass --accept-config. Additions and stricter settings apply.

You are asked about unanswered calls at the terminal; without one, or with --suspend, the run stays suspended and the exit code is 3.
A run whose process was killed can be resumed, too: files are completed or rolled back from the log, calls that may be repeated
run again, and others are in doubt unless \`holdfast resolve\` recorded their effect.`;

interface ResumeFlags extends WorkFlags {
  readonly acceptConfig?: boolean;
}

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[id]', 'session id (default: the newest)')
    .option('--workspace <dir>', 'workspace of the session', '.')
    .option('--tools <dir>', 'folder of tool files (default: as in the run)')
    .option(
      '--model <model>',
      'offline, local, local:<file>, script:<file>, <provider>:<model> or <plugin>/<model> (default: as in the run)',
    )
    .option('--json', 'print JSON lines, one per event');
  addTrustOption(addConfigOptions(command, 'as in the run')).option(
    '--accept-config',
    'continue even if plugins, packs or tool lists have changed since the run started',
  );
  addIsolationOption(command, 'as in the run');
  addLimitOptions(addApprovalOptions(addQuietOption(command)))
    .addHelpText('after', help)
    .action(async (id: string | undefined, { acceptConfig = false, ...flags }: ResumeFlags) => {
      const { resumeSession } = await import('./resume-session.ts');
      end(await resumeSession({ ...toWork(flags), id, acceptConfig }, host));
    });
}
