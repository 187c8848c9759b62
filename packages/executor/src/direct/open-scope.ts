import type { RunEvent } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { type CallOptions, type CallScope, createCallScope } from '../call/scope.ts';
import type { CallFeatures } from '../call/types.ts';
import { parentCallOf } from '../nested/child-session.ts';
import { isolateListener } from './listener.ts';
import { checkCallOptions } from './options.ts';

const nothingAround: ReadonlyMap<string, unknown> = new Map();

/**
 * `toolNames`: tools that may appear later, which policies may mention.
 *
 * @throws HoldfastError as `compileTools`, and `policy.invalid`, `options.invalid`, `context.closed`.
 */
export function openScopeWith(
  features: CallFeatures,
  options: CallOptions,
  toolNames?: ReadonlySet<string>,
): CallScope {
  checkCallOptions(options);
  const parent = parentCallOf(options.session);
  parent?.scope.features.join(features);
  const { onEvent } = options;
  // Checked by `checkCallOptions`.
  const session = options.session as Session;
  return createCallScope(options, {
    features,
    parent,
    outerResources: parent === undefined ? nothingAround : features.nestedResources(parent),
    listener: onEvent === undefined ? undefined : isolateListener<RunEvent>(onEvent, session),
    toolNames,
  });
}
