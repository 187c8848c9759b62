import { type CommandRule, isAllowedBy, matchRule, readCommandRule } from './command-rule.ts';
import type { ShellGuardOptions } from './options.ts';
import type { FoundCommand, ScriptFacts } from './script-facts.ts';

/** What speaks against a command. */
export interface Finding {
  readonly answer: 'ask' | 'deny';
  readonly reason: string;
}

export function judgeCommands(options: ShellGuardOptions): (facts: ScriptFacts) => readonly Finding[] {
  const { unknown = 'ask', unclear = 'deny' } = options;
  const allowed = (options.allow ?? []).map(readCommandRule);
  const asked = (options.ask ?? []).map(readCommandRule);
  const denied = (options.deny ?? []).map(readCommandRule);

  const judge = (command: FoundCommand, functions: ScriptFacts['functions']): Finding | undefined => {
    const shown = show(command);
    const isRefused = findMatch(denied, command);
    if (isRefused?.match === 'yes') return refuse('deny', `${shown} must not run: \`${isRefused.rule.text}\`.`);
    const isAsked = findMatch(asked, command);
    if (isRefused !== undefined) {
      return refuse(
        unclear,
        `${shown} may be \`${isRefused.rule.text}\`, which depends on what is known only when it runs.`,
      );
    }
    if (isAsked !== undefined) return refuse('ask', `${shown} needs approval: \`${isAsked.rule.text}\`.`);
    if (command.isTransparent || allowed.some((rule) => isAllowedBy(rule, command.words))) {
      // What it does is judged as well, but not how often: `:(){ :|:& };:`.
      return functions.has(command.words[0]?.text ?? '')
        ? refuse(unclear, `${shown} is a function of the script, and not the command of that name.`)
        : undefined;
    }
    if (command.opaque !== undefined) return refuse(unclear, `${shown}: ${command.opaque}.`);
    return unknown === 'allow' ? undefined : refuse(unknown, `${shown} is not among the commands that may run.`);
  };
  return ({ commands, functions, unclear: problems }) => [
    ...problems.map((problem) => refuse(unclear, `It is not known what would run: ${problem}.`)),
    ...commands.flatMap((command) => judge(command, functions) ?? []),
  ];
}

const always: ReadonlySet<string> = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty']);

export function judgeRedirections(options: ShellGuardOptions): (facts: ScriptFacts) => readonly Finding[] {
  const { writes: answer = 'ask', unclear = 'deny' } = options;
  return ({ redirections }) =>
    redirections.flatMap(({ target, writes }) => {
      if (target === undefined) return refuse(unclear, 'It is not known which file a redirection is to or from.');
      if (/^\/+dev\/+(?:tcp|udp)(?:\/|$)/i.test(target))
        return refuse('deny', `\`${cut(target)}\` opens a connection.`);
      if (!writes || always.has(target) || answer === 'allow') return [];
      return refuse(answer, `A redirection would write \`${cut(target)}\`.`);
    });
}

export function judgeDownloads({ downloads }: ScriptFacts): readonly Finding[] {
  return downloads.map((name) => refuse('deny', `\`${cut(name)}\` would run what was downloaded.`));
}

function findMatch(
  rules: readonly CommandRule[],
  { words, program }: FoundCommand,
): { readonly rule: CommandRule; readonly match: 'yes' | 'maybe' } | undefined {
  const given = words.slice(1);
  let possible: CommandRule | undefined;
  for (const rule of rules) {
    const match = matchRule(rule, program, given);
    if (match === 'yes') return { rule, match };
    if (match === 'maybe') possible ??= rule;
  }
  return possible === undefined ? undefined : { rule: possible, match: 'maybe' };
}

function refuse(answer: Finding['answer'], reason: string): Finding {
  return { answer, reason };
}

function show({ words }: FoundCommand): string {
  return `\`${cut(words.map(({ text, known }) => (known ? text : `${text}…`)).join(' '))}\``;
}

// What a model wrote, shown to a model or a person: one line, no backtick that would end the quote.
function cut(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replaceAll('`', "'");
  return line.length > 80 ? `${line.slice(0, 80).toWellFormed()}…` : line;
}
