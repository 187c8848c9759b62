import { Argument, type Command } from 'commander';
import { defaultOverridesFolder, defaultTag } from './flags/values.ts';
import { overridesHelp } from './help-texts.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

const overridesActions = ['seed', 'status', 'diff'] as const;
export type OverridesAction = (typeof overridesActions)[number];

interface OverridesFlags {
  readonly export?: string;
  readonly tag: string;
  readonly dir: string;
  readonly json?: boolean;
}

export function addOverridesCommand(program: Command, host: Host, end: (code: ExitCode) => void): void {
  program
    .command('overrides')
    .description('override the texts of a prompt, and show which overrides are in force')
    .addArgument(new Argument('<action>', 'what to do').choices(overridesActions))
    .argument('<module>', 'file that exports the prompt; it is run')
    .option('--export <prompt>', 'name of the export (default: `default`, else the only prompt)')
    .option('--tag <tag>', 'which overrides of the prompt', defaultTag)
    .option('--dir <dir>', 'folder of the overrides', defaultOverridesFolder)
    .option('--json', 'as JSON')
    .addHelpText('after', overridesHelp)
    .action(async (action: OverridesAction, module: string, { export: exportName, tag, dir, json }: OverridesFlags) => {
      const { workOnOverrides } = await import('./commands/set-up/overrides.ts');
      end(await workOnOverrides({ action, module, exportName, tag, folder: dir, json: json === true }, host));
    });
}
