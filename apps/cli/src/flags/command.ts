import type { Command } from 'commander';
import type { Host } from '../terminal/host.ts';

/** The environment of a command. */
export interface CommandContext {
  readonly host: Host;
  /** The program's version. */
  readonly version: string;
  /** Sets the exit code: one of this program, or of a command that it ran. */
  end(code: number): void;
}

/** The module of a command: adds arguments, options, help and action to `command`. */
export interface CommandModule {
  declare(command: Command, context: CommandContext): void;
}
