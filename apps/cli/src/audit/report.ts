import type { Redactor } from '@holdfast/core';
import type { Judged, JudgedCall } from './judge.ts';

/** Calls that a policy would have stopped, over all sessions. */
export interface AuditFinding {
  readonly verdict: 'ask' | 'deny';
  readonly policy: string;
  readonly calls: number;
  readonly sessions: number;
  /** A reason that the policy gave. */
  readonly reason: string;
  /** Commands, paths and addresses of the calls, most frequent first. */
  readonly about: readonly { readonly text: string; readonly calls: number }[];
}

export interface AuditReport {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly sessions: number;
  readonly calls: number;
  readonly denied: number;
  readonly asked: number;
  readonly allowed: number;
  readonly agents: readonly {
    readonly agent: string;
    readonly sessions: number;
    readonly calls: number;
    readonly denied: number;
    readonly asked: number;
  }[];
  readonly findings: readonly AuditFinding[];
  /** Calls that a transcript shows as asked; absent if none shows any. */
  readonly questions?: { readonly shown: number; readonly needless: number };
  readonly unread: readonly { readonly path: string; readonly lines: number }[];
}

const maxAbout = 5;
const maxText = 200;

/** Sums up judged calls. What it quotes of them is redacted and cut. */
export function summarize({ calls, unread }: Judged, redactor: Redactor): AuditReport {
  const times = calls.flatMap(({ atMs }) => atMs ?? []).toSorted((left, right) => left - right);
  const shown = calls.filter(({ asked }) => asked);
  const agents = Map.groupBy(calls, ({ agent }) => agent);
  return {
    fromMs: times[0],
    toMs: times.at(-1),
    sessions: countSessions(calls),
    calls: calls.length,
    ...countVerdicts(calls),
    agents: [...agents].map(([agent, own]) => {
      const { denied, asked } = countVerdicts(own);
      return { agent, sessions: countSessions(own), calls: own.length, denied, asked };
    }),
    findings: findingsOf(calls, redactor),
    ...(shown.length === 0
      ? {}
      : { questions: { shown: shown.length, needless: shown.filter(({ verdict }) => verdict === 'allow').length } }),
    unread: [...unread].map(([path, lines]) => ({ path, lines })),
  };
}

function findingsOf(calls: readonly JudgedCall[], redactor: Redactor): readonly AuditFinding[] {
  const stopped = calls.flatMap((call) => {
    const { verdict } = call;
    // A call that is denied meets no question.
    const why = verdict === 'allow' ? undefined : call.policies.find(({ type }) => type === verdict);
    return verdict === 'allow' || why === undefined ? [] : [{ call, verdict, why }];
  });
  const quote = (text: string): string => {
    const line = String(redactor.redact(text)).replaceAll(/\s+/g, ' ').trim();
    return line.length > maxText ? `${line.slice(0, maxText).toWellFormed()}…` : line;
  };
  return [...Map.groupBy(stopped, ({ verdict, why }) => `${verdict} ${why.policy}`).values()]
    .map((group): AuditFinding => {
      const [first] = group;
      const about = [...Map.groupBy(group, ({ call }) => quote(call.about))].map(([text, same]) => ({
        text,
        calls: same.length,
      }));
      return {
        verdict: first?.verdict ?? 'deny',
        policy: first?.why.policy ?? '',
        calls: group.length,
        sessions: countSessions(group.map(({ call }) => call)),
        reason: quote(first?.why.reason ?? ''),
        about: about.toSorted((left, right) => right.calls - left.calls).slice(0, maxAbout),
      };
    })
    .toSorted(
      (left, right) => Number(left.verdict === 'ask') - Number(right.verdict === 'ask') || right.calls - left.calls,
    );
}

function countVerdicts(calls: readonly JudgedCall[]): {
  readonly denied: number;
  readonly asked: number;
  readonly allowed: number;
} {
  const count = (verdict: JudgedCall['verdict']): number => calls.filter((call) => call.verdict === verdict).length;
  return { denied: count('deny'), asked: count('ask'), allowed: count('allow') };
}

function countSessions(calls: readonly JudgedCall[]): number {
  return new Set(calls.map(({ agent, session }) => `${agent} ${session}`)).size;
}

const looksLikeCheck = /\b(?:test|tests|lint|check|checks|verify|ci|spec|typecheck)\b/i;

/**
 * Commands that look like checks and succeeded before a release that the policies denied for want of one. `checks` in the user's rule file
 * makes them count.
 */
export function suggestChecks(calls: readonly JudgedCall[]): readonly string[] {
  const found = new Set<string>();
  for (const session of Map.groupBy(calls, ({ agent, session }) => `${agent} ${session}`).values()) {
    const last = session.findLastIndex(({ policies }) =>
      policies.some(({ policy, type }) => policy.endsWith('checks-first') && type === 'deny'),
    );
    // One plain command: what is quoted, joined or piped proves less.
    for (const { about, tool, ok } of session.slice(0, Math.max(0, last)))
      if (ok === true && about !== tool && /^[\w./@:+ -]{1,100}$/.test(about) && looksLikeCheck.test(about))
        found.add(about.trim());
  }
  return [...found].toSorted();
}
