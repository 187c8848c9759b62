import type { ResourceTransaction, StagedResource } from '@holdfast/core';
import type { CallResources } from './call-resources.ts';

/** What calls nested in `parent` are given: staged resources commit into the parent's part of the transaction. */
export function nestedResources(parent: CallResources): ReadonlyMap<string, unknown> {
  // Opens every staged resource of the parent, which has to be there for what is nested to commit into.
  const { views } = parent;
  return new Map(
    [...views.keys()].map((name) => {
      const staged = parent.staged.get(name);
      return [name, staged === undefined ? parent.scope.resources.get(name) : toNested(staged)];
    }),
  );
}

function toNested(around: ResourceTransaction): StagedResource {
  return {
    type: 'staged-resource',
    readOnly: around.readOnly,
    begin: (callId) => around.begin(callId),
  };
}
