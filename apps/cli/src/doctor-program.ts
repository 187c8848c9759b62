import type { Command } from 'commander';
import { addConfigOptions, type ConfigFlags } from './config-flags.ts';
import type { ExitCode } from './failure.ts';
import { doctorHelp } from './help-texts.ts';
import type { Host } from './host.ts';
import { subfoldersText } from './option-values.ts';

interface DoctorFlags extends ConfigFlags {
  readonly tools?: string;
  readonly subfolders?: boolean;
  readonly workspace: string;
  readonly json?: boolean;
}

export function addDoctorCommand(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const doctor = program
    .command('doctor')
    .description('check Node.js, packages, model providers, tools, plugins, workspace and isolation')
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
    .option('--subfolders', subfoldersText)
    .option('--workspace <dir>', 'folder that the file tools work in', '.')
    .option('--json', 'as JSON');
  addConfigOptions(doctor)
    .addHelpText('after', doctorHelp)
    .action(async ({ config, tools, subfolders, workspace, json }: DoctorFlags) => {
      const { examine } = await import('./doctor-command.ts');
      end(await examine({ config, tools, subfolders, workspace, json: json === true }, host, process.versions.node));
    });
}
