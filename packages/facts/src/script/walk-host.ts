import type { Command, Function as FunctionNode, Redirected } from 'unbash';
import type { ExpansionHost } from './expand.ts';
import type { FactsBuilder } from './facts-builder.ts';
import type { ShellState } from './state.ts';
import type { Input, Result, Surroundings } from './types.ts';

/** What the walk asks for beyond structure. */
export interface WalkHost extends ExpansionHost {
  readonly facts: FactsBuilder;
  /** Reads again what runs beside the rest of the script. */
  readonly beside: (() => void)[];
  readonly functions: Map<string, FunctionNode['body'][]>;
  /** Whether a command has a meaning without a function by that name. */
  isProgram(name: string): boolean;
  /** A simple command, and a redirection of a compound one. */
  readCommand(node: Command, state: ShellState, around: Surroundings): Result;
  redirect(nodes: Redirected['redirects'], state: ShellState): Input;
  /** Counts a step; `false` when there were too many. */
  step(): boolean;
}
