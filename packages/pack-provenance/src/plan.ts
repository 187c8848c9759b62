import { allow, definePolicy, type KeyedState, type Policy, type PreparedCall, upsert } from '@holdfast/core';
import { type CalledNode, calledSchema, findNode, toCalled } from './bound.ts';
import { wordsFor } from './deciding.ts';
import { namedTools, type ProvenanceOptions } from './options.ts';
import { nodesByTool, type PlannedCalls } from './planned.ts';
import { readRequest } from './request.ts';
import { answer, list } from './values.ts';

/** Asks about changes that the request does not call for, even if a result does. */
export function plan(options: ProvenanceOptions): Policy<undefined> | Policy<KeyedState<CalledNode>> {
  return options.planned === undefined ? byWords(options) : byNodes(options, options.planned);
}

function byWords(options: ProvenanceOptions): Policy<undefined> {
  return definePolicy({
    name: 'plan',
    mentions: namedTools(options),
    check(call, { request }) {
      if (onlyReads(call, options)) return allow;
      const { name } = call.tool;
      const words = wordsFor(options, name);
      if (readRequest(request).callsFor(words)) return allow;
      return answer(options, `The request does not call for \`${name}\`: it has none of the words ${list(words)}.`);
    },
  });
}

/**
 * A change must be a node of the plan, with its arguments, once: a reference is the value that its node's call brought.
 *
 * State: keyed by node, its call and fingerprints of the values that others refer to.
 */
function byNodes(options: ProvenanceOptions, planned: PlannedCalls): Policy<KeyedState<CalledNode>> {
  const byTool = nodesByTool(planned);
  const { key = '' } = options;
  const find = (call: PreparedCall, state: KeyedState<CalledNode>): ReturnType<typeof findNode> =>
    findNode(call, byTool.get(call.tool.name) ?? [], { state, key, repeats: onlyReads(call, options) });
  return definePolicy<CalledNode>({
    name: 'plan',
    mentions: namedTools(options),
    stateKind: 'keyed',
    stateSchema: calledSchema,
    check(call, { state }) {
      if (onlyReads(call, options)) return allow;
      const found = find(call, state);
      if (!('problem' in found)) return allow;
      return answer(
        options,
        `\`${call.tool.name}\` is not in the plan that was made from the request: ${found.problem}.`,
      );
    },
    onResult(call, result, { state }) {
      const found = find(call, state);
      return 'problem' in found ? undefined : upsert(found.id, toCalled(call, found, result, key));
    },
    // A call in doubt may have taken effect: its node is not called again unasked.
    reserve(call, { state }) {
      const found = find(call, state);
      return 'problem' in found ? undefined : upsert(found.id, { call: call.id, values: [] });
    },
  });
}

function onlyReads({ tool, facts }: PreparedCall, { reads = [] }: ProvenanceOptions): boolean {
  if (tool.effects === 'none' || reads.includes(tool.name)) return true;
  if (facts === undefined || facts.unclear.length > 0) return false;
  const { runs, writes, deletes, hosts } = facts;
  return runs.length + writes.length + deletes.length === 0 && !hosts.some(({ sends }) => sends);
}
