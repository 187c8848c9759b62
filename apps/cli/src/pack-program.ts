import type { Command } from 'commander';
import { addTrustOption } from './flags/config.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

const packCheckHelp = `
Examples:
  $ holdfast pack check .                     the pack in this folder, with its cases
  $ holdfast pack check packs/git-safety --json | jq '.rules'
  $ holdfast pack check @acme/holdfast-git-safety --cases test/git-safety.ts

Runs the sources (src/index.ts) where there are any, and the cases that cases.ts, src/cases.ts or test/cases.ts exports as \`cases\`.
Checked is what every pack has to hold to: it says what it is, its package runs nothing when it is installed, its presets make policies,
options that there are not are refused, every rule lets something through and refuses something, also with arguments left out, random
options and arguments get an answer, no timer is left. What a check costs is
that of this machine. Exits with 1 when a check fails. A pack runs with your rights: without a name, the one in this folder has to be
trusted first.`;

interface PackCheckFlags {
  readonly export?: string;
  readonly cases?: string;
  readonly json?: boolean;
  readonly trust?: boolean;
}

export function addPackCommand(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const pack = program.command('pack').description('check a policy pack with its cases: `pack check`');
  addTrustOption(pack.command('check'))
    .description('check a policy pack: its metadata, presets, options and cases, and both answers of every rule')
    .argument('[dir]', 'folder of the pack, a file, or an installed package (default: this folder)')
    .option('--export <export>', 'which of the packs that it exports (default: `default`, else the only one)')
    .option(
      '--cases <file>',
      'file that exports `cases` (default: cases.ts, src/cases.ts or test/cases.ts in the folder)',
    )
    .option('--json', 'as JSON')
    .addHelpText('after', packCheckHelp)
    .action(async (place: string | undefined, { export: exportName, cases, json, trust }: PackCheckFlags) => {
      const { checkPack } = await import('./commands/policies/pack.ts');
      end(await checkPack({ place, exportName, cases, json: json === true, trust }, host));
    });
}
