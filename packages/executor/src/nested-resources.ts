import { isStagedResource, type ResourceTransaction, type StagedResource } from '@holdfast/core';
import type { CallResources } from './call-resources.ts';

/** What calls nested in `parent` are given: staged resources commit into the parent's part of the transaction. */
export function nestedResources(parent: CallResources): ReadonlyMap<string, unknown> {
  // Opens every staged resource of the parent, which has to be there for what is nested to commit into.
  void parent.views;
  return new Map(
    [...parent.scope.resources].map(([name, resource]) => {
      const staged = isStagedResource(resource) ? parent.staged.get(name) : undefined;
      return [name, staged === undefined ? resource : toNested(staged)];
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
