import type { Command } from 'commander';
import { addConfigOptions, type ConfigFlags } from './flags/config.ts';
import { subfoldersText } from './flags/values.ts';
import { configHelp, explainHelp, listHelp, pluginsHelp } from './registry-help.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

interface ViewFlags extends ConfigFlags {
  readonly tools?: string;
  readonly subfolders?: boolean;
  readonly json?: boolean;
}

/** The commands that say what there is, and where it came from. */
export function addRegistryCommands(program: Command, host: Host, end: (code: ExitCode) => void): void {
  addFolderOptions(
    program
      .command('list')
      .helpGroup('Tools:')
      .description('list the tools that a run can call, with their owners and effects'),
  )
    .option('--tree', 'by plugin: what each brings along')
    .option('--json', 'as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ tree, json, ...place }: ViewFlags & { readonly tree?: boolean }) => {
      const { listTools } = await import('./commands/tools/list.ts');
      end(await listTools({ ...place, tree: tree === true, json: json === true }, host));
    });

  const explain = program
    .command('explain')
    .description('show which plugin, file and version a name came from')
    .argument('<name>', 'as a model sees it, as its plugin calls it, or `plugin/name`');
  addFolderOptions(explain)
    .option('--json', 'as JSON')
    .addHelpText('after', explainHelp)
    .action(async (name: string, { json, ...place }: ViewFlags) => {
      const { explainName } = await import('./commands/set-up/explain.ts');
      end(await explainName({ ...place, name, json: json === true }, host));
    });

  addConfigOptions(program.command('config').description('print the configuration, with the origin of each value'))
    .option('--workspace <dir>', 'folder whose holdfast.policy.json has a say', '.')
    .option('--json', 'as JSON')
    .addHelpText('after', configHelp)
    .action(
      async ({ config, workspace, json }: ConfigFlags & { readonly workspace: string; readonly json?: boolean }) => {
        const { showConfig } = await import('./commands/set-up/config.ts');
        end(await showConfig({ config, workspace, json: json === true }, host));
      },
    );

  addFolderOptions(
    program.command('plugins').description('list installed plugins and packs, and which of them are in force'),
  )
    .option('--json', 'as JSON')
    .addHelpText('after', pluginsHelp)
    .action(async ({ json, ...place }: ViewFlags) => {
      const { listPlugins } = await import('./commands/set-up/plugins.ts');
      end(await listPlugins({ ...place, json: json === true }, host));
    });
}

function addFolderOptions(command: Command): Command {
  return addConfigOptions(
    command
      .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
      .option('--subfolders', subfoldersText),
  );
}
