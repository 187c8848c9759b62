import type { Command } from 'commander';
import type { ConfigFlag } from './settings.ts';

/** Options of commands that go by a configuration. */
export interface ConfigFlags {
  readonly config?: ConfigFlag;
}

/** `otherwise`: what counts without them. */
export function addConfigOptions(command: Command, otherwise = './holdfast.config.ts, when there is one'): Command {
  return command
    .option('--config <file>', `configuration: plugins, packs, what may run (default: ${otherwise})`)
    .option('--no-config', 'read no configuration');
}
