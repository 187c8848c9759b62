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
  $ holdfast resume 20260517-093012345-k3x9 --suspend       runs what was answered, and asks nobody
  $ holdfast resume 20260517-093012345-k3x9 --max-calls 100 when the run has used up what it was given

Model, tools and where they run, order, allowed tools and limits are those that the run was given, unless they are set here. Limits
on rounds, calls and tokens count what the run has used before; --timeout and --approval-timeout begin anew.

So are plugins, packs and lists of tools: when one is missing or used otherwise than when the run was begun, nothing runs and the exit
code is 2, unless --accept-config is given. What has been added, and what lets less through, is in force as it is.

What is still unanswered is asked for at the terminal; without one, or with --suspend, the run waits on and the exit code is 3.
A run whose process was killed is gone on with, too: files are completed or put back by the log, a call that may be repeated
runs again, and one that may not is in doubt, unless \`holdfast resolve\` has told what came of it.`;

interface ResumeFlags extends WorkFlags {
  readonly acceptConfig?: boolean;
}

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--workspace <dir>', 'folder that the session works in', '.')
    .option('--tools <dir>', 'folder of tool files (default: that of the run)')
    .option(
      '--model <model>',
      'offline, local, local:<file>, script:<file>, <provider>:<model> or <plugin>/<model> (default: that of the run)',
    )
    .option('--json', 'one JSON event a line on stdout, and nothing else there');
  addTrustOption(addConfigOptions(command, 'that of the run')).option(
    '--accept-config',
    'go on although plugins, packs or lists of tools are not what the run was begun with',
  );
  addIsolationOption(command, 'that of the run');
  addLimitOptions(addApprovalOptions(addQuietOption(command)))
    .addHelpText('after', help)
    .action(async (id: string | undefined, { acceptConfig = false, ...flags }: ResumeFlags) => {
      const { resumeSession } = await import('./resume-session.ts');
      end(await resumeSession({ ...toWork(flags), id, acceptConfig }, host));
    });
}
