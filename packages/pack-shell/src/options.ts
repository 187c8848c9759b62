import { findToolNameProblem, type Schema } from '@holdfast/core';
import * as v from 'valibot';
import { commandRulePattern } from './command-rule.ts';

/** Where a tool holds the command that it runs. */
export type CommandArgument =
  /** The argument that holds a script, or a list of words. */
  | string
  /** A program, and the list of its words: nothing of it is read by a shell. */
  | { readonly program: string; readonly words: string };

/** Options of `shellGuard`. */
export interface ShellGuardOptions {
  /**
   * By tool. Default: `command` of `bash`, `sh`, `shell`, `terminal`, `run_bash`, `run_shell`, `run_command`, `run_shell_command`,
   * `run_in_terminal`, `run_terminal_cmd`, `execute_bash`, `execute_command`, `shell_command` and `shell_exec`, as far as the host has
   * them, also behind a prefix: `dev_bash`.
   */
  readonly tools?: Readonly<Record<string, CommandArgument>> | undefined;
  /** Commands that run: `ls`, `git status`; the words as a command begins. Default: none. */
  readonly allow?: readonly string[] | undefined;
  /** Commands that a person is asked about, written as for `deny`. Default: none. */
  readonly ask?: readonly string[] | undefined;
  /**
   * Commands that never run, whatever else allows them: `rm -r`, `git push --force`. Options may stand anywhere and be written in any
   * way, `*` is any word. Default: none.
   */
  readonly deny?: readonly string[] | undefined;
  /** What is answered to a command that no list has. Default `ask`. */
  readonly unknown?: Answer | undefined;
  /** What is answered when it is not known what would run. Default `deny`. */
  readonly unclear?: 'ask' | 'deny' | undefined;
  /** What is answered when a redirection writes a file. Default `ask`. */
  readonly writes?: Answer | undefined;
}

type Answer = 'allow' | 'ask' | 'deny';

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(64));
const rules = v.optional(
  v.pipe(v.array(v.pipe(v.string(), v.regex(commandRulePattern), v.maxLength(200))), v.maxLength(1_000)),
);
const answer = v.optional(v.picklist(['allow', 'ask', 'deny']));
export const configSchema: Schema<ShellGuardOptions, ShellGuardOptions> = v.strictObject({
  tools: v.optional(
    v.record(
      v.pipe(
        v.string(),
        v.check((tool) => findToolNameProblem(tool) === undefined, 'must be the name of a tool'),
      ),
      v.union([name, v.strictObject({ program: name, words: name })]),
    ),
  ),
  allow: rules,
  ask: rules,
  deny: rules,
  unknown: answer,
  unclear: v.optional(v.picklist(['ask', 'deny'])),
  writes: answer,
});
