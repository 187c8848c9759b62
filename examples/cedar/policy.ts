import assert from 'node:assert/strict';
import {
  type AuthorizationAnswer,
  isAuthorized,
  policySetTextToParts,
  policyToJson,
} from '@cedar-policy/cedar-wasm/nodejs';
import { allow, type CallFacts, type Decision, definePolicy, deny, type PlaceView, type Policy } from '@holdfast/core';
import { findWithin } from '@holdfast/facts';
import { secretFinder } from '@holdfast/facts/rules';

/** A policy that asks Cedar about the facts of each call. In doubt it denies. */
export function cedarPolicy(text: string): Policy<undefined> {
  const parts = policySetTextToParts(text);
  assert(parts.type === 'success', 'The Cedar policies cannot be parsed.');
  const staticPolicies = Object.fromEntries(parts.policies.map((policy, index) => [`policy${index}`, policy]));
  return definePolicy({
    name: 'cedar',
    check({ facts, tool }, { place }) {
      if (facts === undefined || place === undefined) return deny('Nothing is known of this call.');
      return readAnswer(
        isAuthorized({
          principal: { type: 'Agent', id: 'coder' },
          action: { type: 'Action', id: 'call' },
          resource: { type: 'Tool', id: tool.name },
          context: toContext(facts, place),
          policies: { staticPolicies },
          entities: [],
        }),
        (id) => reasonOf(staticPolicies[id] ?? ''),
      );
    },
  });
}

function toContext({ reads, writes, deletes, hosts, unclear }: CallFacts, place: PlaceView) {
  const matches = secretFinder();
  return {
    secrets: reads.some((read) => matches(read.path) || findWithin(read, place, { matches }).type !== 'none'),
    changesOutside: [...writes, ...deletes].some(({ inside }) => !inside),
    hosts: hosts.map(({ host }) => host),
    unclear: unclear.map(({ kind }) => kind),
  };
}

/** Cedar skips a policy that cannot be evaluated, even one that forbids. */
function readAnswer(answer: AuthorizationAnswer, tell: (id: string) => string): Decision {
  if (answer.type === 'failure')
    return deny(`Cedar cannot decide: ${answer.errors.map(({ message }) => message).join(' ')}`);
  const { decision, diagnostics } = answer.response;
  const [error] = diagnostics.errors;
  if (error !== undefined) return deny(`A Cedar policy cannot be evaluated: ${error.error.message}`);
  return decision === 'allow' ? allow : deny(diagnostics.reason.map(tell).join(' ') || 'No policy permits it.');
}

function reasonOf(policy: string): string {
  const read = policyToJson(policy);
  return (read.type === 'success' && read.json.annotations?.['reason']) || 'A Cedar policy forbids it.';
}
