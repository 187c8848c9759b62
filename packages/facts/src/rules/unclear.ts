import type { CallFacts, Tool } from '@holdfast/core';
import type { Unclear } from '@holdfast/core/types';
import { type Finding, quote } from './findings.ts';

type Answer = 'allow' | 'ask' | 'deny';

export interface UnclearRules {
  /** The effects that the policy guards. */
  readonly about: 'files' | 'commands' | 'hosts';
  readonly unclear: 'ask' | 'deny';
  /** The decision for code of the workspace, such as a test runner. */
  readonly project: Answer;
  /** True if a file whose name ends like that may be guarded. Default: always. */
  readonly mayEnd?: (ends: string) => boolean;
}

/** The unclear parts of a call that could matter. */
export function judgeUnclear(facts: CallFacts, tool: Tool, rules: UnclearRules): readonly Finding[] {
  return facts.unclear.flatMap((item) => {
    const answer = answerTo(item, rules, tool);
    if (answer === 'allow') return [];
    return [{ answer, reason: `It is not clear what ${quote(tool.name)} does: ${item.reason}.` }];
  });
}

function answerTo({ kind, use, ends }: Unclear, rules: UnclearRules, tool: Tool): Answer {
  const { about, unclear, mayEnd } = rules;
  if (kind === 'project') return rules.project;
  if (kind === 'download') return 'deny';
  // A tool that declares no outside effects: the session sees what it does.
  if (kind === 'tool' && tool.effects !== 'external') return 'allow';
  // A link may lead to a guarded file.
  if (kind === 'link') return about === 'files' && unclear === 'deny' ? 'deny' : 'allow';
  if (kind !== 'words' || use === undefined) return unclear;
  const isOther = use === 'reads' && ends !== undefined && mayEnd?.(ends) === false;
  return about !== 'files' || isOther ? 'allow' : unclear;
}
