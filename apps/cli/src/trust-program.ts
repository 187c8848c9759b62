import type { Command } from 'commander';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

const trustHelp = `
Examples:
  $ holdfast trust               lists the code that commands find in this folder, and trusts it as it is now
  $ holdfast trust ../project
  $ holdfast trust --remove      asks again from the next command on
  $ holdfast trust --json | jq -r '.files[].path'

Found code is holdfast.config.*, ./plugins, and the plugins, packs and tools folder that the configuration names, with all that these
import by a path; packages count by name and version. What changes later is listed and asked about again. Code that you name
yourself, by --config or --tools, needs no trust. What you trust is kept in your own folder (HOLDFAST_HOME, else
~/.config/holdfast), never in the project.`;

export function addTrustCommand(program: Command, host: Host, end: (code: ExitCode) => void): void {
  program
    .command('trust')
    .description('trust the code that is found in a folder')
    .argument('[dir]', 'the folder', '.')
    .option('--remove', 'trust nothing of the folder any more')
    .option('--json', 'as JSON')
    .addHelpText('after', trustHelp)
    .action(async (folder: string, { remove, json }: { readonly remove?: boolean; readonly json?: boolean }) => {
      const { trustFolder } = await import('./commands/set-up/trust.ts');
      end(await trustFolder({ folder, remove: remove === true, json: json === true }, host));
    });
}
