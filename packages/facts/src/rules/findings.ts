import { allow, ask, type Decision, deny } from '@holdfast/core';
import { toPrintable } from '@holdfast/core/internal';
import type { Deny } from '@holdfast/core/types';

/** An objection to a call. */
export interface Finding {
  readonly answer: 'ask' | 'deny';
  /** A sentence. */
  readonly reason: string;
  /** `false`: only an approval of this exact call lifts it. */
  readonly grantable?: false;
}

const maxReasons = 5;

/** The strictest finding, with the reasons for it. */
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

/** The decision of a policy over facts if the host provides none. */
export function denyWithoutFacts(policy: string): Deny {
  return deny(
    `\`${policy}\` needs the facts of a call, but this host provides none. Pass \`facts: createFacts({ describers: [shellFacts(), fileFacts(), fetchFacts()], view })\` of \`@holdfast/facts\`.`,
  );
}

/** Quotes model text for a reason: one short line in backticks. */
export function quote(text: string): string {
  const line = toPrintable(text.toWellFormed()).replaceAll('`', "'");
  return line.length > 120
    ? `\`${line.slice(0, 80).toWellFormed()}…${line.slice(-39).toWellFormed()}\``
    : `\`${line}\``;
}
