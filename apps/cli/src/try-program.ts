import type { Isolation } from '@holdfast/loader';
import { type Command, Option } from 'commander';
import { addConfigOptions, addTrustOption, type ConfigFlags } from './flags/config.ts';
import { collect, collectVariables, readSeconds } from './flags/values.ts';
import { tryHelp } from './help-texts.ts';
import { isolationTiers } from './settings/choices.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

interface TryFlags extends ConfigFlags {
  readonly input?: string;
  readonly workspace?: string;
  readonly isolation?: Isolation;
  readonly allow?: readonly string[];
  readonly env?: readonly string[];
  readonly timeout?: number;
  readonly json?: boolean;
}

export function addTryCommand(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const command = program
    .command('try')
    .description('check one tool file, call its tool, and show what a model would see')
    .argument('<file>', 'the tool file; its tool runs')
    .option('--input <json>', 'arguments to call it with (default: those of its first example)')
    .option('--workspace <dir>', 'files that the tool finds; none of them is changed (default: no files)')
    .addOption(
      new Option('--isolation <tier>', 'the weakest isolation to run it in (default: subprocess)').choices(
        isolationTiers,
      ),
    )
    .option('--allow <name>', 'let the tool of this name run without asking, though it is dangerous', collect)
    .option('--env <name>', 'give it this environment variable, if it declares it; may be repeated', collectVariables)
    .option('--timeout <seconds>', 'the longest that a call may take (default: 60)', readSeconds)
    .option('--json', 'as JSON');
  addTrustOption(addConfigOptions(command))
    .addHelpText('after', tryHelp)
    .action(async (file: string, { config, trust, input, workspace, isolation, allow, env, ...flags }: TryFlags) => {
      const { timeout, json } = flags;
      const { tryTool } = await import('./commands/tools/try.ts');
      end(
        await tryTool(
          {
            config,
            trust,
            file,
            input,
            workspace,
            isolation,
            allow: allow ?? [],
            environment: env ?? [],
            timeoutMs: timeout === undefined ? undefined : timeout * 1000,
            json: json === true,
          },
          host,
        ),
      );
    });
}
