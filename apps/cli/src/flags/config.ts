import type { Command } from 'commander';
import type { ConfigFlag } from '../settings/settings.ts';
import { subfoldersText } from './values.ts';

/** Options of commands that use a configuration. */
export interface ConfigFlags {
  readonly config?: ConfigFlag;
  /** Trusts found code, for commands that run it. */
  readonly trust?: boolean;
}

/** `otherwise`: the default, for the help. */
export function addConfigOptions(command: Command, otherwise = './holdfast.config.ts, if it exists'): Command {
  return command
    .option('--config <file>', `configuration file (default: ${otherwise})`)
    .option('--no-config', 'ignore configuration files');
}

/** For commands that run code found in the current folder. */
export function addTrustOption(command: Command): Command {
  return command.option('--trust', 'trust the code found in this folder, like `holdfast trust`');
}

/** For commands that inspect what a run would use. */
export function addFolderOptions(command: Command): Command {
  return addConfigOptions(
    command
      .option('--tools <dir>', 'folder of tool files (default: ./plugins, if it exists)')
      .option('--subfolders', subfoldersText),
  );
}
