import type { Command } from 'commander';
import { approveHelp, denyHelp, grantsHelp, pendingHelp, resolveHelp, resumeHelp } from './approval-help.ts';
import type { AnswerCommandOptions } from './commands/answer/answer-calls.ts';
import {
  addApprovalOptions,
  addIsolationOption,
  addLimitOptions,
  addQuietOption,
  type GoingFlags,
  readApproval,
  readLimits,
} from './flags/approval.ts';
import { addConfigOptions, addTrustOption, type ConfigFlags } from './flags/config.ts';
import { collect } from './flags/values.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

interface SessionFlags {
  readonly workspace: string;
  readonly json?: boolean;
}

interface AnswerFlags extends SessionFlags {
  readonly by?: string;
  readonly digest?: string;
  readonly grant?: boolean;
  readonly reason?: string;
}

interface ResumeFlags extends SessionFlags, GoingFlags, ConfigFlags {
  readonly acceptConfig?: boolean;
  readonly tools?: string;
  readonly model?: string;
}

interface ResolveFlags extends SessionFlags {
  readonly done?: boolean;
  readonly notDone?: boolean;
  readonly value?: string;
  readonly reason?: string;
  readonly by?: string;
}

/** The commands about runs that wait for a person or were interrupted. */
export function addApprovalCommands(program: Command, host: Host, end: (code: ExitCode) => void): void {
  program
    .command('pending')
    .description('list pending calls, interrupted runs and calls in doubt')
    .argument('[id]', 'id of the session (default: all that wait)')
    .option('--workspace <dir>', 'folder that the session works in', '.')
    .option('--json', 'as JSON')
    .addHelpText('after', pendingHelp)
    .action(async (id: string | undefined, { workspace, json }: SessionFlags) => {
      const { showPending } = await import('./commands/answer/pending.ts');
      end(await showPending({ id, workspace, json: json === true }, host));
    });

  const approve = program
    .command('approve')
    .description('approve a pending call')
    .option('--grant', 'let further calls of the same tool pass without asking, for this session');
  addAnswerOptions(approve)
    .addHelpText('after', approveHelp)
    .action(async (id: string, calls: readonly string[], flags: AnswerFlags) => {
      await answer(id, calls, { flags, answer: { type: 'approve', ...(flags.grant === true ? { grant: true } : {}) } });
    });
  const deny = program
    .command('deny')
    .description('reject a pending call')
    .option('--reason <text>', 'why, for the model and the log');
  addAnswerOptions(deny)
    .addHelpText('after', denyHelp)
    .action(async (id: string, calls: readonly string[], flags: AnswerFlags) => {
      const { reason } = flags;
      await answer(id, calls, { flags, answer: { type: 'deny', ...(reason === undefined ? {} : { reason }) } });
    });

  const resume = program
    .command('resume')
    .description('resume a suspended or interrupted run')
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--workspace <dir>', 'folder that the session works in', '.')
    .option('--tools <dir>', 'folder of tool files (default: that of the run)')
    .option(
      '--model <model>',
      'offline, local, local:<file>, script:<file>, <provider>:<model> or <plugin>/<model> (default: that of the run)',
    )
    .option('--json', 'one JSON event a line on stdout, and nothing else there');
  addTrustOption(addConfigOptions(resume, 'that of the run')).option(
    '--accept-config',
    'go on although plugins, packs or lists of tools are not what the run was begun with',
  );
  addIsolationOption(resume, 'that of the run');
  addLimitOptions(addApprovalOptions(addQuietOption(resume)))
    .addHelpText('after', resumeHelp)
    .action(
      async (
        id: string | undefined,
        { workspace, json, tools, isolation, model, allow = [], env = [], ...flags }: ResumeFlags,
      ) => {
        const given = { id, workspace, json: json === true, tools, isolation, model, allow, environment: env };
        const { config, trust, acceptConfig = false } = flags;
        const configured = { ...given, config, trust, acceptConfig, quiet: flags.quiet === true };
        const { resumeSession } = await import('./commands/run/resume-session.ts');
        end(await resumeSession({ ...configured, ...readLimits(flags), approval: readApproval(flags) }, host));
      },
    );

  program
    .command('resolve')
    .description('record whether an interrupted call took effect')
    .argument('<id>', 'id of the session')
    .argument('<call>', 'id of the call, or the beginning of one')
    .option('--done', 'it took effect')
    .option('--not-done', 'it did not')
    .option('--value <json>', 'what it would have returned, with --done (default: null)')
    .option('--reason <text>', 'how you know, for the model and the log')
    .option('--by <who>', 'who says so, for the log (default: person)')
    .option('--workspace <dir>', 'folder that the session works in', '.')
    .option('--json', 'as JSON')
    .addHelpText('after', resolveHelp)
    .action(async (id: string, call: string, { workspace, json, done, notDone, ...flags }: ResolveFlags) => {
      const { value, reason, by } = flags;
      const given = { id, call, done: done === true, notDone: notDone === true, value, reason, by };
      const { resolveSessionCall } = await import('./commands/answer/resolve.ts');
      end(await resolveSessionCall({ ...given, workspace, json: json === true }, host));
    });

  program
    .command('grants')
    .description('list or withdraw the tools granted for a session')
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--withdraw <name>', 'ask again at the next call of this tool; may be repeated', collect)
    .option('--workspace <dir>', 'folder that the session works in', '.')
    .option('--json', 'as JSON')
    .addHelpText('after', grantsHelp)
    .action(
      async (
        id: string | undefined,
        { workspace, json, withdraw = [] }: SessionFlags & { withdraw?: readonly string[] },
      ) => {
        const { showGrants } = await import('./commands/answer/grants.ts');
        end(await showGrants({ id, withdraw, workspace, json: json === true }, host));
      },
    );

  async function answer(
    id: string,
    calls: readonly string[],
    { flags, answer: given }: { readonly flags: AnswerFlags; readonly answer: AnswerCommandOptions['answer'] },
  ): Promise<void> {
    const { by, digest, workspace, json } = flags;
    const { answerCalls } = await import('./commands/answer/answer-calls.ts');
    end(await answerCalls({ id, calls, answer: given, by, digest, workspace, json: json === true }, host));
  }
}

function addAnswerOptions(command: Command): Command {
  return command
    .argument('<id>', 'id of the session')
    .argument('<call...>', 'ids of calls, or the beginnings of them')
    .option('--by <who>', 'who says so, for the log (default: person)')
    .option('--digest <hex>', 'only if the question still is the one with this digest, or this beginning of one')
    .option('--workspace <dir>', 'folder that the session works in', '.')
    .option('--json', 'as JSON');
}
