import type { Command } from 'commander';
import { addConfigOptions, type ConfigFlags } from './flags/config.ts';
import { subfoldersText } from './flags/values.ts';
import { doctorHelp } from './help-texts.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

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
      const { examine } = await import('./commands/set-up/doctor.ts');
      end(await examine({ config, tools, subfolders, workspace, json: json === true }, host, process.versions.node));
    });
}
