import { HoldfastError } from './errors.ts';

/**
 * How long an instance lives: as long as the session, as long as one call, or for one `use` (each gets its own, and it is disposed
 * of when its call ends).
 */
export type ResourceLifetime = 'session' | 'call' | 'use';

/** Gives what a resource is built from. */
export interface ResourceBuild {
  /** @throws HoldfastError `resource.cycle`, `resource.lifetime` (something that lives shorter), `resource.create_failed`. */
  use<Value>(resource: ResourceDefinition<Value>): Promise<Value>;
  /** Ends with the lifetime that the instance has. */
  readonly signal: AbortSignal;
}

/** A declared resource: the typed token by which `context.use` asks for it. */
export interface ResourceDefinition<Value = unknown> {
  readonly type: 'resource';
  readonly name: string;
  readonly lifetime: ResourceLifetime;
  // Methods, so that a ResourceDefinition<Client> is a ResourceDefinition; `dispose` only ever gets what `create` made.
  create(build: ResourceBuild): Value | Promise<Value>;
  dispose?(value: Value): void | Promise<void>;
}

const namePattern = /^[a-z0-9][a-zA-Z0-9._-]{0,63}$/;

/**
 * Declares a resource. Made when first used; disposed of in reverse order of making, whatever happened in between.
 * When `create` gives a staged resource, what tools get is its view in their call's transaction.
 *
 * @throws HoldfastError `resource.invalid`.
 */
export function defineResource<Value>(definition: {
  /** The name under which a host may bind its own instance. */
  readonly name: string;
  readonly lifetime: ResourceLifetime;
  create(build: ResourceBuild): Value | Promise<Value>;
  dispose?(value: Value): void | Promise<void>;
}): ResourceDefinition<Value> {
  const { name, lifetime, create, dispose } = definition;
  if (!namePattern.test(name)) {
    throw new HoldfastError('resource.invalid', `The resource name \`${name}\` must match ${namePattern.source}.`);
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
  return Object.freeze({ type: 'resource', name, lifetime, create, ...(dispose === undefined ? {} : { dispose }) });
}

export function isResourceDefinition(value: unknown): value is ResourceDefinition {
  return (
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'resource' && 'create' in value
  );
}
