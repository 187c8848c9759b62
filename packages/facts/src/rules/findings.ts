import { allow, ask, type Decision, type Deny, deny } from '@holdfast/core';
import { toPrintable } from '@holdfast/core/internal';

/** What speaks against a call. */
export interface Finding {
  readonly answer: 'ask' | 'deny';
  /** A sentence. */
  readonly reason: string;
  /** `false`: only a yes to this very call answers it. */
  readonly grantable?: false;
}

const maxReasons = 5;

/** The strictest of what was found, with the reasons for just that. */
export function decide(findings: readonly Finding[]): Decision {
  if (findings.length === 0) return allow;
  const denied = findings.filter(({ answer }) => answer === 'deny');
  const telling = denied.length > 0 ? denied : findings;
  const reasons = [...new Set(telling.map(({ reason }) => reason))];
  const more = reasons.length > maxReasons ? ` And ${reasons.length - maxReasons} more.` : '';
  const text = reasons.slice(0, maxReasons).join(' ') + more;
  return denied.length > 0
    ? deny(text)
    : ask(text, { grantable: telling.every(({ grantable }) => grantable !== false) });
}

/** The answer of a policy over facts where the host makes none. */
export function denyWithoutFacts(policy: string): Deny {
  return deny(
    `\`${policy}\` judges what a call does, and this host makes no facts of its calls. Whoever runs this passes \`facts: createFacts({ describers: [shellFacts(), fileFacts(), fetchFacts()], view })\` of \`@holdfast/facts\`.`,
  );
}

/** What a model wrote, for a reason: one line in backticks, not too long. */
export function quote(text: string): string {
  const line = toPrintable(text.toWellFormed()).replaceAll('`', "'");
  return line.length > 120
    ? `\`${line.slice(0, 80).toWellFormed()}…${line.slice(-39).toWellFormed()}\``
    : `\`${line}\``;
}
