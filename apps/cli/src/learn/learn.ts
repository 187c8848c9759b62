import type { CallFacts, Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { allowRuleSchema, type FactRule, type FactRules, factPolicy, keyOf } from '@holdfast/facts/rules';
import type { LogRecord } from '@holdfast/session';
import { comparePolicies } from '@holdfast/testing/recorded';
import * as v from 'valibot';

/** The log of a guarded session. */
export interface LearnedSession {
  readonly id: string;
  readonly records: readonly LogRecord[];
}

/** An exception from the user's own questions. */
export interface LearnedRule {
  readonly rule: FactRule;
  /** Questions that it would have answered, and a person answered with yes. */
  readonly approved: number;
  /** All recorded calls that it would have let through. */
  readonly letThrough: readonly { readonly session: string; readonly callId: string; readonly about: string }[];
}

export interface Learned {
  readonly rules: readonly LearnedRule[];
  /** Yes answers to questions that no rule of a file lifts, by policy. */
  readonly unlifted: readonly { readonly policy: string; readonly approved: number; readonly about: string }[];
}

export interface LearnOptions {
  /** The rules of the user's own file. */
  readonly rules: FactRules;
  /** How often a person must have said yes. */
  readonly times: number;
}

const maxCandidates = 20;

/**
 * Proposes exceptions from questions that a person answered with yes again and again, and never with no. Each is tried on all recorded calls;
 * one that answers none of these questions by itself is dropped.
 */
export async function learn(sessions: readonly LearnedSession[], { rules, times }: LearnOptions): Promise<Learned> {
  const answered = sessions.flatMap(readAnswers);
  const own = answered.filter(({ policies }) => policies.every(isOwn));
  const refused = new Set(own.filter(({ yes }) => !yes).flatMap(({ candidates }) => candidates.map(toKey)));
  const counts = new Map<string, { readonly rule: FactRule; count: number }>();
  for (const { candidates } of own.filter(({ yes }) => yes))
    for (const rule of candidates) {
      const known = counts.get(toKey(rule)) ?? { rule, count: 0 };
      known.count += 1;
      counts.set(toKey(rule), known);
    }
  const often = [...counts].filter(([key, { count }]) => count >= times && !refused.has(key));
  const approvedCalls = new Set(own.filter(({ yes }) => yes).map(({ session, callId }) => `${session} ${callId}`));
  const tried: LearnedRule[] = [];
  for (const [, { rule }] of often
    .toSorted(([, left], [, right]) => right.count - left.count)
    .slice(0, maxCandidates)) {
    const letThrough = (await Promise.all(sessions.map((session) => tryRule(rule, rules, session)))).flat();
    const approved = letThrough.filter(({ session, callId }) => approvedCalls.has(`${session} ${callId}`)).length;
    if (approved >= times) tried.push({ rule, approved, letThrough });
  }
  const found: LearnedRule[] = [];
  // The wider of two that answer the same questions adds nothing.
  for (const each of tried.toSorted(byWidth))
    if (!found.some((other) => other.approved >= each.approved && isWithin(other, each.letThrough))) found.push(each);
  const others = answered.filter(({ yes, policies }) => yes && !policies.every(isOwn));
  const unlifted = [...Map.groupBy(others, ({ policies }) => policies.find((id) => !isOwn(id)) ?? '')].map(
    ([policy, list]) => ({ policy, approved: list.length, about: list[0]?.about ?? '' }),
  );
  return {
    rules: found.toSorted((left, right) => right.approved - left.approved),
    unlifted: unlifted.toSorted((left, right) => right.approved - left.approved),
  };
}

/** The narrowest first: fewer calls, then more words. */
function byWidth(left: LearnedRule, right: LearnedRule): number {
  return left.letThrough.length - right.letThrough.length || toKey(right.rule).length - toKey(left.rule).length;
}

function isWithin({ letThrough }: LearnedRule, all: LearnedRule['letThrough']): boolean {
  return letThrough.every(({ session, callId }) =>
    all.some((other) => other.session === session && other.callId === callId),
  );
}

async function tryRule(
  rule: FactRule,
  rules: FactRules,
  { id, records }: LearnedSession,
): Promise<LearnedRule['letThrough']> {
  const toPolicy = (allow: readonly FactRule[]) => factPolicy({ ...rules, allow }, { source: 'holdfast.policy.json' });
  const { allow = [] } = rules;
  const workspace = findWorkspace(records);
  const calls = await comparePolicies(records, {
    before: [toPolicy(allow)],
    after: [toPolicy([...allow, rule])],
    ...(workspace === undefined ? {} : { workspace }),
  });
  return calls
    .filter(({ change }) => change === 'widened')
    .map(({ callId, tool, input }) => ({ session: id, callId, about: describeAbout(tool, input) }));
}

interface Answer {
  readonly session: string;
  readonly callId: string;
  readonly yes: boolean;
  readonly policies: readonly string[];
  readonly about: string;
  readonly candidates: readonly FactRule[];
}

/** The answers of persons, not of agents for them. */
function readAnswers({ id, records }: LearnedSession): readonly Answer[] {
  const asked = new Map<string, Readonly<Record<string, Json>>>();
  const answers: Answer[] = [];
  const workspace = findWorkspace(records) ?? '/';
  for (const { type, callId, pending, answer, by } of records) {
    if (type === 'approval-request' && isPlainObject(pending) && typeof pending['callId'] === 'string')
      asked.set(pending['callId'], pending as Readonly<Record<string, Json>>);
    const question = type === 'approval-answer' && by !== 'agent' ? asked.get(String(callId)) : undefined;
    if (question === undefined || !isPlainObject(answer)) continue;
    const { asks, name, input, facts } = question;
    answers.push({
      session: id,
      callId: String(callId),
      yes: answer['type'] === 'approve',
      policies: Array.isArray(asks) ? asks.map((ask) => (isPlainObject(ask) ? String(ask['policy']) : '')) : [],
      about: describeAbout(String(name), input),
      // Written by the executor; a cut list would hide effects.
      candidates:
        isPlainObject(facts) && facts['cut'] !== true ? listCandidates(facts as unknown as CallFacts, workspace) : [],
    });
  }
  return answers;
}

/** The id of the policy that the user's own file makes. */
function isOwn(policy: string): boolean {
  return policy.split('/').at(-1) === 'user-rules';
}

function findWorkspace(records: readonly LogRecord[]): string | undefined {
  for (const { type, events } of records) {
    if (type !== 'event' || !Array.isArray(events)) continue;
    for (const event of events) {
      const payload = isPlainObject(event) && event['type'] === 'guard-decided' ? event['payload'] : undefined;
      if (isPlainObject(payload) && typeof payload['workspace'] === 'string') return payload['workspace'];
    }
  }
  return undefined;
}

/** Narrow exceptions that name an effect of a call, the narrowest first. */
function listCandidates({ runs, reads, writes, deletes, hosts }: CallFacts, workspace: string): readonly FactRule[] {
  const rules: FactRule[] = [
    ...hosts.map(({ host, sends }): FactRule => (sends ? { sends: host } : { reaches: host })),
    ...runs.flatMap(({ program, arguments: words }): readonly FactRule[] => {
      const whole = words.every((word) => word !== null) ? [{ runs: [program, ...words].join(' ') }] : [];
      const [first] = words;
      return typeof first === 'string' && /^[a-z]/.test(first) ? [...whole, { runs: `${program} ${first}` }] : whole;
    }),
    ...reads.map(({ path }): FactRule => ({ reads: keyOf(path, workspace) })),
    ...writes.map(({ path }): FactRule => ({ writes: keyOf(path, workspace) })),
    ...deletes.map(({ path }): FactRule => ({ deletes: keyOf(path, workspace) })),
  ];
  const valid = rules.filter((rule) => v.safeParse(allowRuleSchema, rule).success);
  return [...new Map(valid.map((rule) => [toKey(rule), rule])).values()];
}

function toKey(rule: FactRule): string {
  return JSON.stringify(rule);
}

function describeAbout(tool: string, input: unknown): string {
  const fields = isPlainObject(input) ? input : {};
  const about = ['command', 'file_path', 'filePath', 'path', 'url'].map((name) => fields[name]);
  return about.find((value): value is string => typeof value === 'string' && value !== '') ?? tool;
}
