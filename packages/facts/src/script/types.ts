import type { Unclear } from '@holdfast/core/types';
import type { Places } from '../places/places.ts';
import type { FactsBuilder } from './facts-builder.ts';
import type { Field } from './field.ts';
import type { ShellState } from './state.ts';

/** The input of a command. */
export interface Input {
  /** All of it, when it stands in the script. */
  readonly text?: string;
  /** The file names in it, if it is known to be a list of files. */
  readonly names?: readonly Field[];
  /** Something is piped or redirected into the command. */
  readonly given: boolean;
  /** Part of it was downloaded. */
  readonly fetched: boolean;
}

/** Reports unknown code that a command reads. */
export function unclearCode(runner: Pick<Runner, 'unclear'>, { fetched }: Input, reason: string): void {
  if (fetched) runner.unclear('download', 'it runs downloaded code');
  else runner.unclear('code', reason);
}

export const noInput: Input = { given: false, fetched: false };

/** The context of a command. */
export interface Surroundings {
  readonly depth: number;
  /** Positions of commands that must have succeeded before. */
  readonly after: readonly number[];
  readonly background: boolean;
  /** Its failure is tested, so `set -e` does not end the script. */
  readonly tested: boolean;
  readonly input: Input;
  /** The command is a program, even if functions or aliases share its name. */
  readonly external?: boolean;
}

/** The result of walking a part of a script. */
export interface Result {
  /** Positions of the commands whose success is implied by its own. */
  readonly decides: readonly number[];
  /** Its output, if known. */
  readonly output: Input;
}

export const nothing: Result = { decides: [], output: noInput };

/** A command under analysis: its words and its context. */
export interface Call {
  /** Its name, folded: `git` for `/usr/bin/git`. */
  readonly program: string;
  readonly words: readonly Field[];
  readonly state: ShellState;
  readonly around: Surroundings;
  /** Its position in the facts. */
  readonly position: number;
}

/** The interface of a program handler: it adds facts, and analyzes nested commands. */
export interface Runner {
  readonly facts: FactsBuilder;
  readonly places: Places;
  readonly home: string | undefined;
  /** A script for a shell. */
  runText(text: string, state: ShellState, around: Surroundings): Result;
  /** A command given as words. */
  runWords(words: readonly Field[], state: ShellState, around: Surroundings, environment?: readonly string[]): Result;
  checkVariable(name: string, value: Field): void;
  unclear(kind: Unclear['kind'], reason: string): void;
}

/** Adds the effects of one program. `undefined`: no further result. */
export type Handler = (call: Call, runner: Runner) => Result | undefined;
