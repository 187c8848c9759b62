import { commandRulePattern } from '@holdfast/facts/rules';
import * as v from 'valibot';

type Answer = 'allow' | 'ask' | 'deny';

/** Options of `shellGuard`. A command is written as its words begin: `rm -r`, `git push --force`. */
export interface ShellGuardOptions {
  /** Commands that run: `ls`, `git status`; the words as a command begins. Default: all of which it is clear what they do. */
  readonly allow?: readonly string[] | undefined;
  /** What is answered to a command that `allow` does not have. Default `ask`. */
  readonly unknown?: Answer | undefined;
  /** Commands that a person is asked about, written as for `deny`. Default: none. */
  readonly ask?: readonly string[] | undefined;
  /**
   * Commands that never run, whatever else allows them. Options may stand anywhere and be written in any way, `*` is any word. Default:
   * those that change the machine itself.
   */
  readonly deny?: readonly string[] | undefined;
  /** What is answered to a command that loses work, changes what others have, or publishes. Default `ask`. */
  readonly destructive?: Answer | undefined;
  /** What is answered when it is not clear what would run. Default `deny`. */
  readonly unclear?: 'ask' | 'deny' | undefined;
  /** What is answered to code of the workspace: tests, builds, scripts. Default `allow`. */
  readonly project?: Answer | undefined;
  /** What is answered when a command writes or deletes files, or sends data. Default `allow`: other packs judge that. */
  readonly changes?: Answer | undefined;
}

const rules = v.optional(
  v.pipe(v.array(v.pipe(v.string(), v.regex(commandRulePattern), v.maxLength(200))), v.maxLength(1_000)),
);
const answer = v.optional(v.picklist(['allow', 'ask', 'deny']));
const former = (instead: string) => v.optional(v.never(`is no option any more: ${instead}`));

export const configSchema: v.GenericSchema<ShellGuardOptions> = v.strictObject({
  allow: rules,
  ask: rules,
  deny: rules,
  unknown: answer,
  destructive: answer,
  unclear: v.optional(v.picklist(['ask', 'deny'])),
  project: answer,
  changes: answer,
  tools: former('a call is judged by its facts, so hand `shellFacts({ tools: … })` to `createFacts`'),
  writes: former('say `changes`, which is about every way to write, delete or send'),
});
