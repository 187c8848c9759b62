import { allow, definePolicy, type Policy, type PreparedCall } from '@holdfast/core';
import { wordsFor } from './deciding.ts';
import { namedTools, type ProvenanceOptions } from './options.ts';
import { readRequest } from './request.ts';
import { answer, list } from './values.ts';

/** Asks about changes that the request does not call for, whatever a result says. Keeps no state. */
export function plan(options: ProvenanceOptions): Policy<undefined> {
  return definePolicy({
    name: 'plan',
    mentions: namedTools(options),
    check(call, { request }) {
      if (onlyReads(call, options)) return allow;
      const { name } = call.tool;
      if (options.planned !== undefined) {
        if (options.planned.includes(name)) return allow;
        return answer(options, `\`${name}\` is not in the plan that was made from the request.`);
      }
      const words = wordsFor(options, name);
      if (readRequest(request).callsFor(words)) return allow;
      return answer(options, `The request does not call for \`${name}\`: it has none of the words ${list(words)}.`);
    },
  });
}

function onlyReads({ tool, facts }: PreparedCall, { reads = [] }: ProvenanceOptions): boolean {
  if (tool.effects === 'none' || reads.includes(tool.name)) return true;
  if (facts === undefined || facts.unclear.length > 0) return false;
  const { runs, writes, deletes, hosts } = facts;
  return runs.length + writes.length + deletes.length === 0 && !hosts.some(({ sends }) => sends);
}
