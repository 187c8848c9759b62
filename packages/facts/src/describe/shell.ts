import type { CallFacts, Describer, Json, PlaceView } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { joinPath } from '../places/path.ts';
import { readShell } from '../shell/reader.ts';
import { unclearFacts } from './union.ts';

/** The arguments of a tool that runs a command. */
export type CommandArgument =
  /** The argument that holds a script, or a list of words. */
  | string
  /** A program and the list of its arguments, run without a shell. */
  | { readonly program: string; readonly words: string };

export interface ShellFactsOptions {
  /** Keyed by tool name. Default: `command` of common shell tools. */
  readonly tools?: Readonly<Record<string, CommandArgument>>;
  /** The argument that holds the command's working folder. Default `cwd`. */
  readonly folder?: string;
}

const usualTools =
  'bash sh shell terminal run_bash run_shell run_command run_shell_command run_in_terminal run_terminal_cmd execute_bash execute_command shell_command shell_exec Bash exec_command'.split(
    ' ',
  );

/** Facts of tools that run a command, read as `bash` and `sh` would. PowerShell and `cmd` are not supported. */
export function shellFacts({ tools, folder = 'cwd' }: ShellFactsOptions = {}): Describer {
  const named = new Map<string, CommandArgument>(
    Object.entries(tools ?? Object.fromEntries(usualTools.map((name) => [name, 'command']))),
  );
  return {
    name: 'shell',
    describe({ tool, input }, view) {
      const argument = named.get(tool);
      if (argument === undefined) return undefined;
      const at = read(input, folder);
      const command = commandOf(input, argument);
      if (command === undefined || (at !== undefined && typeof at !== 'string')) {
        return unclearFacts({ kind: 'code', reason: `\`${tool}\` has no readable command` });
      }
      return describeCommand(command, at === undefined ? view : { ...view, folder: joinPath(view.folder, at) });
    },
  };
}

/** Facts of one command: a script, or a program with its arguments. */
export function describeCommand(command: string | readonly string[], view: PlaceView): CallFacts {
  return readShell(command, view);
}

function read(input: Json, key: string): unknown {
  return isPlainObject(input) && Object.hasOwn(input, key) ? input[key] : undefined;
}

function commandOf(input: Json, argument: CommandArgument): string | readonly string[] | undefined {
  if (typeof argument === 'string') {
    const command = read(input, argument);
    return typeof command === 'string' || (isWords(command) && command.length > 0) ? command : undefined;
  }
  const program = read(input, argument.program);
  const words = read(input, argument.words) ?? [];
  return typeof program === 'string' && isWords(words) ? [program, ...words] : undefined;
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}
