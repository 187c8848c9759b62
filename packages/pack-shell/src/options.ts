import { commandRulePattern } from '@holdfast/facts/rules';
import * as v from 'valibot';

type Answer = 'allow' | 'ask' | 'deny';

/** Options of `shellGuard`. A command is written by its first words: `rm -r`, `git push --force`. */
export interface ShellGuardOptions {
  /** Commands that may run, by their first words: `ls`, `git status`. Default: all whose effect is clear. */
  readonly allow?: readonly string[] | undefined;
  /** Decision for commands not in `allow`. Default `ask`. */
  readonly unknown?: Answer | undefined;
  /** Commands that need approval, written as in `deny`. Default: none. */
  readonly ask?: readonly string[] | undefined;
  /**
   * Commands that never run, even if something else allows them. Options match in any position and spelling; `*` matches any word. Default:
   * commands that change the machine itself.
   */
  readonly deny?: readonly string[] | undefined;
  /** Decision for commands that lose work, affect others, or publish. Default `ask`. */
  readonly destructive?: Answer | undefined;
  /** Decision if it is unclear what would run. Default `deny`. */
  readonly unclear?: 'ask' | 'deny' | undefined;
  /** Decision for workspace code: tests, builds, scripts. Default `allow`. */
  readonly project?: Answer | undefined;
  /** Decision for commands that write or delete files, or send data. Default `allow`: other packs judge these. */
  readonly changes?: Answer | undefined;
}

const rules = v.optional(
  v.pipe(v.array(v.pipe(v.string(), v.regex(commandRulePattern), v.maxLength(200))), v.maxLength(1_000)),
);
const answer = v.optional(v.picklist(['allow', 'ask', 'deny']));
const former = (instead: string) => v.optional(v.never(`is no longer an option: ${instead}`));

export const configSchema: v.GenericSchema<ShellGuardOptions> = v.strictObject({
  allow: rules,
  ask: rules,
  deny: rules,
  unknown: answer,
  destructive: answer,
  unclear: v.optional(v.picklist(['ask', 'deny'])),
  project: answer,
  changes: answer,
  tools: former('calls are judged by their facts; pass `shellFacts({ tools: … })` to `createFacts`'),
  writes: former('use `changes`, which covers every way to write, delete or send'),
});
