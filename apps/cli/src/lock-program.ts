import type { Command } from 'commander';
import { addConfigOptions, addTrustOption, type ConfigFlags } from './flags/config.ts';
import { collect, subfoldersText } from './flags/values.ts';
import { lockHelp } from './help-texts.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

interface LockFlags extends ConfigFlags {
  readonly tools?: string;
  readonly subfolders?: boolean;
  readonly check?: boolean;
  readonly accept?: readonly string[];
  readonly json?: boolean;
}

export function addLockCommand(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const lock = program
    .command('lock')
    .description('lock tools, plugins and packs as they are, or show what differs')
    .option('--tools <dir>', 'folder of tool files (default: ./plugins)')
    .option('--subfolders', subfoldersText)
    .option('--check', 'write nothing, and exit with 1 when anything differs')
    .option('--accept <tool>', 'show what differs in this tool, and lock it alone; may be repeated', collect)
    .option('--json', 'as JSON');
  addTrustOption(addConfigOptions(lock))
    .addHelpText('after', lockHelp)
    .action(async ({ config, trust, tools, subfolders, check, accept, json }: LockFlags) => {
      const given = { config, trust, tools, subfolders, check: check === true, accept: accept ?? [] };
      const { lockFolder } = await import('./commands/tools/lock.ts');
      end(await lockFolder({ ...given, json: json === true }, host));
    });
}
