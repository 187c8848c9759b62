import { HoldfastError, isHoldfastError, type ResourceDefinition } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';

// Errors in declarations are passed on unchanged, whichever resource was requested.
const declarationReasons: ReadonlySet<string | undefined> = new Set(['cycle', 'lifetime', 'name_conflict']);

/** The error for users of a resource whose `create` threw. */
export function toCreateError({ name }: ResourceDefinition, thrown: unknown): HoldfastError {
  if (isHoldfastError(thrown) && thrown.code === 'resource.invalid' && declarationReasons.has(thrown.reason))
    return thrown;
  const message = `The resource \`${name}\` could not be created: ${describeThrown(thrown)}`;
  return new HoldfastError('resource.failed', message, { data: { reason: 'create', resource: name }, cause: thrown });
}

/** @param path the names along the cycle; the first equals the last. */
export function cycleError(path: readonly string[]): HoldfastError {
  const message = `The resource \`${path[0]}\` cannot be created because it depends on itself: ${path.join(' -> ')}.`;
  return new HoldfastError('resource.invalid', message, { data: { reason: 'cycle', path: [...path] } });
}

const ranks = { use: 0, call: 1, session: 2 } as const;

/** @throws HoldfastError `resource.invalid` if `asker` would outlive its dependency. */
export function checkLifetime(asker: ResourceDefinition, used: ResourceDefinition): void {
  if (ranks[used.lifetime] < ranks[asker.lifetime]) {
    throw lifetimeError(asker, used.name, `which has the shorter lifetime \`${used.lifetime}\``);
  }
}

/** A session's resource requested a staged one. */
export function stagedError(asker: ResourceDefinition, used: string): HoldfastError {
  return lifetimeError(asker, used, 'which is staged: each call has its own view of it');
}

function lifetimeError({ name, lifetime }: ResourceDefinition, used: string, why: string): HoldfastError {
  const message = `The resource \`${name}\` with the lifetime \`${lifetime}\` cannot use \`${used}\`, ${why}. Give \`${name}\` a shorter lifetime.`;
  return new HoldfastError('resource.invalid', message, { data: { reason: 'lifetime', resource: name, used } });
}

export function nameConflictError(name: string): HoldfastError {
  const message = `Two different resources are named \`${name}\`. Rename one of them, or bind a single resource under that name.`;
  return new HoldfastError('resource.invalid', message, { data: { reason: 'name_conflict', name } });
}

export function invalidTokenError(): HoldfastError {
  return new HoldfastError('resource.invalid', '`use` expects a resource created by `defineResource`.');
}

export function scopeClosedError(): HoldfastError {
  return new HoldfastError('context.closed', 'The call has ended: its resources can no longer be used.');
}

/** `create` of `definition` requested a dependency after it had ended. */
export function buildClosedError({ name }: ResourceDefinition): HoldfastError {
  const message = `\`create\` of the resource \`${name}\` has ended; request its dependencies before that.`;
  return new HoldfastError('context.closed', message);
}
