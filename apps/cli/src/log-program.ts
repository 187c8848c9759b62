import type { Command } from 'commander';
import { readSeq } from './flags/values.ts';
import { replayHelp, showHelp, verifyHelp, whyHelp } from './help-texts.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

interface LogFlags {
  readonly workspace: string;
  readonly json?: boolean;
}

/** The commands that read the log of a session. */
export function addLogCommands(program: Command, host: Host, end: (code: ExitCode) => void): void {
  program
    .command('show')
    .description('print the log of a session')
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .option('--json', 'the records as they are, one a line')
    .addHelpText('after', showHelp)
    .action(async (id: string | undefined, { workspace, json }: LogFlags) => {
      const { showSession } = await import('./commands/look/show.ts');
      end(await showSession({ id, workspace, json: json === true }, host));
    });

  program
    .command('why')
    .description('explain why a call was allowed, asked about or denied, and what came of it')
    .usage('[options] [id] <call>')
    .argument('<call...>', 'id of the session (default: the newest), and id of the call or the beginning of one')
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .option('--json', 'as JSON')
    .addHelpText('after', whyHelp)
    .action(async (ids: readonly string[], { workspace, json }: LogFlags) => {
      const [call = '', id, ...rest] = ids.toReversed();
      if (rest.length > 0)
        program.error('error: too many arguments: `why` takes a session and a call, or a call alone');
      const { explainWhy } = await import('./commands/look/why.ts');
      end(await explainWhy({ id, call, workspace, json: json === true }, host));
    });

  program
    .command('replay')
    .description('rebuild the state of a session from its log')
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .option('--at <seq>', 'the state after this record instead of the last one', readSeq)
    .option('--json', 'the state as `session.import` takes it')
    .addHelpText('after', replayHelp)
    .action(async (id: string | undefined, { workspace, at, json }: LogFlags & { readonly at?: number }) => {
      const { replaySession } = await import('./commands/look/replay.ts');
      end(await replaySession({ id, workspace, at, json: json === true }, host));
    });

  program
    .command('verify')
    .description('check that the log of a session was not changed')
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .option('--head <hash>', 'a head that was noted earlier: also finds an end that was cut off')
    .option('--json', 'as JSON')
    .addHelpText('after', verifyHelp)
    .action(async (id: string | undefined, { workspace, head, json }: LogFlags & { readonly head?: string }) => {
      const { verifyLog } = await import('./commands/look/verify.ts');
      end(await verifyLog({ id, workspace, head, json: json === true }, host));
    });
}
