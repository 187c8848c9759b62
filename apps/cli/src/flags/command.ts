import type { Command } from 'commander';
import type { ExitCode } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';

/** What a command is given to work with. */
export interface CommandContext {
  readonly host: Host;
  /** Of the program. */
  readonly version: string;
  /** Says how the program ends. */
  end(code: ExitCode): void;
}

/** The file of a command: it gives `command` its arguments, options, help and action. */
export interface CommandModule {
  declare(command: Command, context: CommandContext): void;
}
