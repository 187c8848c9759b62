import type { CallOptions, CallScope } from './call/scope.ts';
import { openScope } from './direct/features.ts';

/** Every run has every feature in use. */
export function openPlainScope(options: CallOptions): CallScope {
  return openScope(options);
}

export function openFullScope(options: CallOptions, toolNames?: ReadonlySet<string>): CallScope {
  return openScope(options, toolNames);
}
