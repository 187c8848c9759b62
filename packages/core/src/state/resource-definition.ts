import { HoldfastError } from '../basics/errors.ts';
import type { StagedResource } from './resource.ts';

/**
 * The lifetime of an instance: the session, one call, or one `use` (each gets its own, disposed when its call ends). A resource must not
 * use resources with a shorter lifetime.
 */
export type ResourceLifetime = 'session' | 'call' | 'use';

/** The parts of a resource, available while `create` runs. */
export interface ResourceBuild {
  /**
   * Another resource, which outlives the one being created.
   *
   * @throws HoldfastError `resource.invalid` (a shorter lifetime, or a session's resource that uses a staged one, which
   * exists only as a call's view), `resource.failed`, `context.closed`.
   */
  use<Value>(resource: ResourceDefinition<Value>): Promise<Value>;
  /** Aborted at the end of the instance's lifetime. */
  readonly signal: AbortSignal;
}

/** The result of `create` for `Value`: the value, or a staged resource with such views. */
export type ResourceInstance<Value> = Value | StagedResource<Value>;

/** The tools' type of an instance: a call's view of a staged resource, else the instance. */
export type ResourceView<Instance> = Instance extends StagedResource<infer View> ? View : Instance;

/** A declared resource: the typed token for `context.use`, which returns `Value`. */
export interface ResourceDefinition<Value = unknown> {
  readonly type: 'resource';
  readonly name: string;
  readonly lifetime: ResourceLifetime;
  // Methods, so that a ResourceDefinition<Client> is a ResourceDefinition; `dispose` only gets results of `create`.
  create(build: ResourceBuild): ResourceInstance<Value> | Promise<ResourceInstance<Value>>;
  dispose?(instance: ResourceInstance<Value>): unknown;
}

const namePattern = /^[a-z0-9][a-zA-Z0-9._-]{0,63}$/;

/**
 * Declares a resource. Created on first use; disposed in reverse order of creation in any case.
 * If `create` returns a staged resource, tools get its view in their call's transaction.
 *
 * @throws HoldfastError `resource.invalid`.
 */
export function defineResource<Instance>(definition: {
  /** The name under which a host may bind its own instance. */
  readonly name: string;
  readonly lifetime: ResourceLifetime;
  create(build: ResourceBuild): Instance | Promise<Instance>;
  /** Awaited; its result is ignored, so that `(database) => database.close()` works. */
  dispose?(instance: Instance): unknown;
}): ResourceDefinition<ResourceView<Instance>> {
  const { name, lifetime, create, dispose } = definition;
  if (typeof name !== 'string' || !namePattern.test(name)) {
    throw new HoldfastError(
      'resource.invalid',
      `The resource name \`${String(name)}\` must match ${namePattern.source}.`,
    );
  }
  if (!['session', 'call', 'use'].includes(lifetime)) {
    throw new HoldfastError(
      'resource.invalid',
      `\`lifetime\` of the resource \`${name}\` must be session, call or use, got \`${String(lifetime)}\`.`,
    );
  }
  if (typeof create !== 'function') {
    throw new HoldfastError('resource.invalid', `The resource \`${name}\` needs a \`create\` function.`);
  }
  if (dispose !== undefined && typeof dispose !== 'function') {
    throw new HoldfastError('resource.invalid', `\`dispose\` of the resource \`${name}\` must be a function.`);
  }
  const declared = { type: 'resource' as const, name, lifetime, create, ...(dispose === undefined ? {} : { dispose }) };
  // `Instance` is its own view or a staged resource of it; the compiler does not compare unresolved conditional types.
  return Object.freeze(declared) as ResourceDefinition<unknown> as ResourceDefinition<ResourceView<Instance>>;
}

/** True if `value` was created by `defineResource`, from any copy of this package. */
export function isResourceDefinition(value: unknown): value is ResourceDefinition {
  return (
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'resource' && 'create' in value
  );
}
