import type { Command } from 'commander';
import type { ConfigFlag } from '../settings/settings.ts';
import { subfoldersText } from './values.ts';

/** Options of commands that go by a configuration. */
export interface ConfigFlags {
  readonly config?: ConfigFlag;
  /** Of commands that run what is found: says yes to it. */
  readonly trust?: boolean;
}

/** `otherwise`: what counts without them. */
export function addConfigOptions(command: Command, otherwise = './holdfast.config.ts, when there is one'): Command {
  return command
    .option('--config <file>', `configuration: plugins, packs, what may run (default: ${otherwise})`)
    .option('--no-config', 'read no configuration');
}

/** Of commands that run code which is found in the current folder. */
export function addTrustOption(command: Command): Command {
  return command.option('--trust', 'trust the code found in this folder, as `holdfast trust` does');
}

/** Of commands that look at what a run would have. */
export function addFolderOptions(command: Command): Command {
  return addConfigOptions(
    command
      .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
      .option('--subfolders', subfoldersText),
  );
}
