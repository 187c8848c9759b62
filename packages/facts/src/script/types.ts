import type { Unclear } from '@holdfast/core';
import type { Places } from '../places/places.ts';
import type { FactsBuilder } from './facts-builder.ts';
import type { Field } from './field.ts';
import type { ShellState } from './state.ts';

/** What a command reads from the one before it. */
export interface Input {
  /** All of it, when it stands in the script. */
  readonly text?: string;
  /** The names of files that it consists of, when it is known that it does. */
  readonly names?: readonly Field[];
  /** Something is piped or redirected into the command. */
  readonly given: boolean;
  /** Some of it was downloaded. */
  readonly fetched: boolean;
}

/** Code that a command reads and that is not known. */
export function unclearCode(runner: Pick<Runner, 'unclear'>, { fetched }: Input, reason: string): void {
  if (fetched) runner.unclear('download', 'it runs what was downloaded');
  else runner.unclear('code', reason);
}

export const noInput: Input = { given: false, fetched: false };

/** What stands around a command. */
export interface Surroundings {
  readonly depth: number;
  /** Positions of the commands that have succeeded before. */
  readonly after: readonly number[];
  readonly background: boolean;
  /** Its failure is looked at, so that `set -e` does not end the script. */
  readonly tested: boolean;
  readonly input: Input;
  /** The command itself is a program, whatever functions and aliases have its name. */
  readonly external?: boolean;
}

/** What is known of a part of a script after it was read. */
export interface Result {
  /** Positions of the commands whose success its own success proves. */
  readonly decides: readonly number[];
  /** What it prints, as far as it is known. */
  readonly output: Input;
}

export const nothing: Result = { decides: [], output: noInput };

/** A command that is being read: its words, and where it stands. */
export interface Call {
  /** Its name, folded: `git` for `/usr/bin/git`. */
  readonly program: string;
  readonly words: readonly Field[];
  readonly state: ShellState;
  readonly around: Surroundings;
  /** Its position in the facts. */
  readonly position: number;
}

/** What a program's reading may ask for: facts are added, and what it runs is read as well. */
export interface Runner {
  readonly facts: FactsBuilder;
  readonly places: Places;
  readonly home: string | undefined;
  /** A script for a shell. */
  runText(text: string, state: ShellState, around: Surroundings): Result;
  /** A command of words. */
  runWords(words: readonly Field[], state: ShellState, around: Surroundings, environment?: readonly string[]): Result;
  checkVariable(name: string, value: Field): void;
  unclear(kind: Unclear['kind'], reason: string): void;
}

/** Says what one program does with its words. `undefined`: no more than was added. */
export type Handler = (call: Call, runner: Runner) => Result | undefined;
