import type { Command, Function as FunctionNode, Redirected } from 'unbash';
import type { ExpansionHost } from './expand.ts';
import type { FactsBuilder } from './facts-builder.ts';
import type { ShellState } from './state.ts';
import type { Input, Result, Surroundings } from './types.ts';

/** The callbacks of the walk. */
export interface WalkHost extends ExpansionHost {
  readonly facts: FactsBuilder;
  /** Reads again what runs beside the rest of the script. */
  readonly beside: (() => void)[];
  readonly functions: Map<string, FunctionNode['body'][]>;
  /** True if a command exists without a function of that name. */
  isProgram(name: string): boolean;
  /** Handles a simple command, or a redirection of a compound one. */
  readCommand(node: Command, state: ShellState, around: Surroundings): Result;
  redirect(nodes: Redirected['redirects'], state: ShellState): Input;
  /** Counts a step; `false` if the limit is exceeded. */
  step(): boolean;
}
