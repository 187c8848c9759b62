import { HoldfastError } from '../basics/errors.ts';
import type { StagedResource } from './resource.ts';

/**
 * How long an instance lives: as long as the session, as long as one call, or for one `use` (each gets its own, and it is disposed
 * of when its call ends). Nothing may use what is declared to live shorter than itself.
 */
export type ResourceLifetime = 'session' | 'call' | 'use';

/** Gives what a resource is built from, while `create` has not come to its end. */
export interface ResourceBuild {
  /**
   * Another resource. It outlives what is built from it.
   *
   * @throws HoldfastError `resource.cycle`, `resource.lifetime` (something that lives shorter, or a session's resource that asks for
   * a staged one, of which there is only a call's view), `resource.name_conflict`, `resource.create_failed`, `context.closed`.
   */
  use<Value>(resource: ResourceDefinition<Value>): Promise<Value>;
  /** Ends with the lifetime that the instance has. */
  readonly signal: AbortSignal;
}

/** What `create` may give for `Value`: itself, or a staged resource whose views it is. */
export type ResourceInstance<Value> = Value | StagedResource<Value>;

/** What tools get of an instance: a call's view of a staged one, else the instance itself. */
export type ResourceView<Instance> = Instance extends StagedResource<infer View> ? View : Instance;

/** A declared resource: the typed token by which `context.use` asks for it. `Value` is what that gives. */
export interface ResourceDefinition<Value = unknown> {
  readonly type: 'resource';
  readonly name: string;
  readonly lifetime: ResourceLifetime;
  // Methods, so that a ResourceDefinition<Client> is a ResourceDefinition; `dispose` only ever gets what `create` made.
  create(build: ResourceBuild): ResourceInstance<Value> | Promise<ResourceInstance<Value>>;
  dispose?(instance: ResourceInstance<Value>): unknown;
}

const namePattern = /^[a-z0-9][a-zA-Z0-9._-]{0,63}$/;

/**
 * Declares a resource. Made when first used; disposed of in reverse order of making, whatever happened in between.
 * When `create` gives a staged resource, what tools get is its view in their call's transaction.
 *
 * @throws HoldfastError `resource.invalid`.
 */
export function defineResource<Instance>(definition: {
  /** The name under which a host may bind its own instance. */
  readonly name: string;
  readonly lifetime: ResourceLifetime;
  create(build: ResourceBuild): Instance | Promise<Instance>;
  /** Waited for; what it answers is ignored, so that `(database) => database.close()` will do. */
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
  // `Instance` is its own view or a staged resource of it; the compiler does not compare a conditional type that is still open.
  return Object.freeze(declared) as ResourceDefinition<unknown> as ResourceDefinition<ResourceView<Instance>>;
}

/** Whether `value` was made by `defineResource`, of any copy of this package. */
export function isResourceDefinition(value: unknown): value is ResourceDefinition {
  return (
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'resource' && 'create' in value
  );
}
