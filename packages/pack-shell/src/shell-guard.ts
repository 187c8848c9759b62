import { type CallFacts, definePack, definePolicy, type Pack, type Policy, type Tool } from '@holdfast/core';
import type { Command } from '@holdfast/core/types';
import {
  type CommandRule,
  decide,
  denyWithoutFacts,
  type Finding,
  findDestructive,
  isAllowedBy,
  judgeUnclear,
  matchRule,
  quote,
  readCommandRule,
} from '@holdfast/facts/rules';
import manifest from '../package.json' with { type: 'json' };
import { configSchema, type ShellGuardOptions } from './options.ts';

/**
 * Restricts the programs that a call may start, whichever tool it uses. The policy `commands` judges each command in the facts
 * (`call.facts`), including those run by other commands; the optional policy `changes` judges writes, deletions and sent data. Without
 * facts, calls of tools with external effects are denied.
 */
export const shellGuard: Pack<ShellGuardOptions> = definePack<ShellGuardOptions, ShellGuardOptions>({
  name: 'shell-guard',
  version: manifest.version,
  description: 'Decides which commands may run, by their effects.',
  configSchema,
  presets: {
    recommended: {
      description: 'Allows clear commands; asks about unclear and irreversible ones.',
      config: { destructive: 'ask', unclear: 'ask', project: 'allow' },
    },
    strict: {
      description: 'Never asks: allows only clear commands that read and print.',
      config: { destructive: 'deny', unclear: 'deny', project: 'deny', changes: 'deny' },
    },
  },
  policies(options) {
    const { changes = 'allow' } = options;
    return [
      overFacts('commands', judgeCommands(options)),
      ...(changes === 'allow' ? [] : [overFacts('changes', (facts) => judgeChanges(facts, changes))]),
    ];
  },
});

function overFacts(name: string, judge: (facts: CallFacts, tool: Tool) => readonly Finding[]): Policy {
  return definePolicy({
    name,
    check({ facts, tool }) {
      if (facts !== undefined) return decide(judge(facts, tool));
      // A tool that is not external declares that it starts nothing.
      return tool.effects === 'external' ? denyWithoutFacts(name) : decide([]);
    },
  });
}

function judgeCommands(options: ShellGuardOptions): (facts: CallFacts, tool: Tool) => readonly Finding[] {
  const { unclear = 'deny', unknown = 'ask', project = 'allow', destructive = 'ask' } = options;
  const allowed = options.allow?.map(readCommandRule);
  const asked = (options.ask ?? []).map(readCommandRule);
  const denied = (options.deny ?? []).map(readCommandRule);

  const judge = (command: Command): readonly Finding[] => {
    const shown = show(command);
    const named = [...findMatches(denied, command, 'deny'), ...findMatches(asked, command, 'ask')];
    const found = named.map(({ rule, answer, isSure }): Finding => {
      if (!isSure) return { answer: unclear, reason: `${shown} may be \`${rule}\`, which is known only when it runs.` };
      const reason =
        answer === 'deny' ? `${shown} must not run: \`${rule}\`.` : `${shown} needs approval: \`${rule}\`.`;
      return { answer, reason };
    });
    const known = findDestructive(command);
    if (known !== undefined) {
      const answer = known.never ? 'deny' : destructive;
      const isSure = known.match === 'yes';
      const rule = `\`${known.rule}\``;
      const reason = isSure ? `${shown} ${known.why} (${rule}).` : `${shown} may be ${rule}, which ${known.why}.`;
      if (answer !== 'allow') found.push({ answer: isSure ? answer : unclear, reason });
    }
    if (unknown !== 'allow' && allowed?.some((rule) => isAllowedBy(rule, command)) === false)
      found.push({ answer: unknown, reason: `${shown} is not an allowed command.` });
    return found;
  };
  return (facts, tool) => [
    ...facts.runs.flatMap(judge),
    ...judgeUnclear(facts, tool, { about: 'commands', unclear, project }),
  ];
}

/** The match of a rule with a command. */
interface Named {
  readonly rule: string;
  readonly answer: 'ask' | 'deny';
  readonly isSure: boolean;
}

function findMatches(rules: readonly CommandRule[], command: Command, answer: 'ask' | 'deny'): readonly Named[] {
  return rules.flatMap((rule) => {
    const match = matchRule(rule, command);
    return match === 'no' ? [] : [{ rule: rule.text, answer, isSure: match === 'yes' }];
  });
}

function judgeChanges(facts: CallFacts, answer: 'ask' | 'deny'): readonly Finding[] {
  if (facts.runs.length === 0) return [];
  return [
    ...facts.writes.map(({ path }) => `${quote(path)} would be written.`),
    ...facts.deletes.map(({ path }) => `${quote(path)} would be deleted.`),
    ...facts.hosts.flatMap(({ host, sends }) => (sends ? `Data would be sent to ${quote(host)}.` : [])),
  ].map((reason) => ({ answer, reason }));
}

function show({ program, arguments: words }: Command): string {
  return quote([program, ...words.map((word) => word ?? '…')].join(' '));
}
