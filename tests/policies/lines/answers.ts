import { type Decision, defineTool, type Json, type PlaceView, type Policy, type PolicyContext } from '@holdfast/core';
import { createFacts, describeCommand, fetchFacts, fileFacts, shellFacts } from '@holdfast/facts';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { networkEgress } from '@holdfast/pack-network';
import { releaseOrder } from '@holdfast/pack-release';
import { shellGuard } from '@holdfast/pack-shell';
import { packPolicies } from '@holdfast/policy';

export type Preset = 'recommended' | 'strict';

const packs = [filesystemGuard, shellGuard, networkEgress];
const policiesOf: Readonly<Record<Preset, readonly Policy[]>> = {
  recommended: packs.flatMap((pack) => packPolicies(pack, { preset: 'recommended' })),
  strict: packs.flatMap((pack) => packPolicies(pack, { preset: 'strict' })),
};
/** As the guard's preset `coding` has them, at the start of a session. */
const checksFirst = packPolicies(releaseOrder).filter(({ name }) => name === 'checks-first');
const describers = [shellFacts(), fileFacts(), fetchFacts()];

/** The answer of the packs for files, commands and the network to a call; its reasons, for a test that fails. */
export function answerCall(name: string, input: Json, view: PlaceView, preset: Preset = 'recommended'): Decision {
  const tool = defineTool({ name: name.toLowerCase(), description: 'A tool of the tests.' });
  // The names of foreign tools have capitals.
  const facts = createFacts({ describers, view }).describe({ id: 'c', tool: { ...tool, name }, input }, view);
  const call = { id: 'c', tool, input, facts };
  const decisions = policiesOf[preset].map((policy): Decision => {
    const decision = policy.check(call, { ...context, place: view });
    if (decision instanceof Promise) throw new Error(`\`${policy.id}\` lets a call wait`);
    return decision;
  });
  return (
    decisions.find(({ type }) => type === 'deny') ?? decisions.find(({ type }) => type === 'ask') ?? { type: 'allow' }
  );
}

/** True if a line is a release that must wait for its checks. */
export function isEarlyRelease(line: string, view: PlaceView): boolean {
  const facts = describeCommand(line, view);
  const call = { id: 'c', tool: defineTool({ name: 'bash', description: 'A tool.' }), input: {}, facts };
  return checksFirst.some((policy) => {
    const decision = policy.check(call, { ...context, state: new Map(), place: view });
    return !(decision instanceof Promise) && decision.type !== 'allow';
  });
}

export function answerLine(line: string, view: PlaceView, preset: Preset = 'recommended'): Decision {
  return answerCall('bash', { command: line }, view, preset);
}

const context: PolicyContext = Object.freeze({
  state: undefined,
  session: { read: () => neverRead() },
  filesystem: undefined,
  deadline: { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY },
});

function neverRead(): never {
  throw new Error('none of these policies reads the session');
}
