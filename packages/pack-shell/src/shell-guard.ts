import {
  allow,
  ask,
  type Decision,
  definePack,
  definePolicy,
  deny,
  isPlainObject,
  type Pack,
  type Policy,
  type PreparedCall,
} from '@holdfast/core';
import manifest from '../package.json' with { type: 'json' };
import { type Finding, judgeCommands, judgeDownloads, judgeRedirections } from './judge.ts';
import { type CommandArgument, configSchema, type ShellGuardOptions } from './options.ts';
import { recommended, strict } from './presets.ts';
import { readScript, readWords, type ScriptFacts } from './script-facts.ts';

const usualTools: readonly string[] = [
  ...[
    'bash',
    'sh',
    'shell',
    'terminal',
    'run_bash',
    'run_shell',
    'run_command',
    'run_shell_command',
    'run_in_terminal',
  ],
  ...['run_terminal_cmd', 'execute_bash', 'execute_command', 'shell_command', 'shell_exec'],
];

/**
 * Which commands a shell tool may run, decided on the parse tree of what it is given, as `bash` and `sh` read it. Three policies:
 * `commands` judges every simple command, those that other commands run among them; `redirections` what writes files or opens
 * connections; `downloads` what runs what it downloads.
 */
export const shellGuard: Pack<ShellGuardOptions> = definePack<ShellGuardOptions, ShellGuardOptions>({
  name: 'shell-guard',
  version: manifest.version,
  description: 'Which commands a shell may run, decided on what the shell would read.',
  configSchema,
  presets: { recommended, strict },
  policies(config) {
    const argumentOf =
      config.tools === undefined ? usualArgument : namedArgument(new Map(Object.entries(config.tools)));
    const mentioned = Object.keys(config.tools ?? {});
    // The three policies are asked about one call one after the other.
    const known = new WeakMap<PreparedCall, ScriptFacts | string>();
    const define = (policyName: string, judge: (facts: ScriptFacts) => readonly Finding[]): Policy =>
      definePolicy({
        name: policyName,
        tools: mentioned,
        check(call) {
          const argument = argumentOf(call);
          if (argument === undefined) return allow;
          const facts = known.get(call) ?? readCall(call, argument);
          known.set(call, facts);
          return typeof facts === 'string' ? deny(facts) : decide(judge(facts));
        },
      });
    return [
      define('commands', judgeCommands(config)),
      define('redirections', judgeRedirections(config)),
      define('downloads', judgeDownloads),
    ];
  },
});

function namedArgument(
  tools: ReadonlyMap<string, CommandArgument>,
): (call: PreparedCall) => CommandArgument | undefined {
  return ({ tool }) => tools.get(tool.name);
}

/** Also of `dev_bash`, as a plugin's `bash` is called under a prefix; but then only where there is a command. */
function usualArgument({ tool: { name }, input }: PreparedCall): 'command' | undefined {
  if (usualTools.includes(name)) return 'command';
  const isPrefixed = usualTools.some((usual) => name.endsWith(`_${usual}`) || name.endsWith(`-${usual}`));
  return isPrefixed && isPlainObject(input) && Object.hasOwn(input, 'command') ? 'command' : undefined;
}

function readCall({ tool, input }: PreparedCall, argument: CommandArgument): ScriptFacts | string {
  const read = (key: string): unknown => (isPlainObject(input) && Object.hasOwn(input, key) ? input[key] : undefined);
  if (typeof argument === 'string') {
    const command = read(argument);
    if (typeof command === 'string') return readScript(command);
    if (isWords(command) && command.length > 0) return readWords(command);
    return `\`${argument}\` of \`${tool.name}\` must be a command, or a list of its words.`;
  }
  const program = read(argument.program);
  const words = read(argument.words) ?? [];
  if (typeof program === 'string' && isWords(words)) return readWords([program, ...words]);
  return `\`${argument.program}\` of \`${tool.name}\` must be a program, and \`${argument.words}\` a list of its words.`;
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

const maxReasons = 5;

/** The strictest of what was found, with the reasons for just that. */
function decide(findings: readonly Finding[]): Decision {
  const denied = findings.filter(({ answer: found }) => found === 'deny');
  const telling = denied.length > 0 ? denied : findings;
  const reasons = [...new Set(telling.map(({ reason }) => reason))];
  if (reasons.length === 0) return allow;
  const more = reasons.length > maxReasons ? ` And ${reasons.length - maxReasons} more.` : '';
  const reason = reasons.slice(0, maxReasons).join(' ') + more;
  return denied.length > 0 ? deny(reason) : ask(reason);
}
