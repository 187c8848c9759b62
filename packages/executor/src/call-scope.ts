import {
  type BoundPolicy,
  type Clock,
  describeThrown,
  HoldfastError,
  type Policy,
  type RenderedPrompt,
  type RunEvent,
  type SessionReader,
  systemClock,
  type Tool,
} from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { Approve } from './approval.ts';
import { type Lifetime, startLifetime } from './lifetime.ts';
import { type PolicySurroundings, readOnlyFilesystem } from './policy-state.ts';
import { type Toolset, toToolset } from './toolset.ts';

/** What every runner takes. */
export interface CallOptions {
  readonly tools: readonly Tool[];
  readonly session: Session;
  /** The host's own policies, in force for every call. */
  readonly policies?: readonly Policy[];
  /** By name; `filesystem` is also `context.filesystem`. Staged resources take part in each call's transaction. */
  readonly resources?: Readonly<Record<string, unknown>>;
  /** Tools for which nobody has to be asked. Denials still hold. */
  readonly grants?: readonly string[];
  /** Answers asks at once. Without it a call that needs approval ends as `suspended`. */
  readonly approve?: Approve;
  /** Nobody is there: an ask is a denial. Default false. */
  readonly unattended?: boolean;
  readonly signal?: AbortSignal;
  /** Time for all of it, in milliseconds. Default: no end. */
  readonly timeoutMs?: number;
  /** How long a policy may take to answer before that counts as a denial. Default 5,000 ms. */
  readonly policyTimeoutMs?: number;
  /** Sees every event; what it throws is recorded and breaks nothing. */
  readonly onEvent?: (event: RunEvent) => void;
  readonly clock?: Clock;
}

/** Everything that calls of one run share. */
export interface CallScope {
  readonly toolset: Toolset;
  readonly session: Session;
  readonly hostPolicies: readonly BoundPolicy[];
  /** In force for a call: the host's, then those of the prompt. */
  readonly policiesFor: (toolName: string) => readonly BoundPolicy[];
  /** Policies that want to see successes. */
  readonly observers: readonly BoundPolicy[];
  readonly resources: ReadonlyMap<string, unknown>;
  readonly surroundings: PolicySurroundings;
  readonly grants: ReadonlySet<string>;
  readonly approve: Approve | undefined;
  readonly unattended: boolean;
  readonly policyTimeoutMs: number;
  readonly lifetime: Lifetime;
  readonly clock: Clock;
  /** Absent when nobody listens. */
  readonly emit: ((event: RunEvent) => void) | undefined;
}

const noResources: ReadonlyMap<string, unknown> = new Map();
const noGrants: ReadonlySet<string> = new Set();
const noPolicies: readonly BoundPolicy[] = [];

/** @throws HoldfastError as `toToolset`, and `policy.key.duplicate`, `policy.tool.unknown`, `options.invalid`. */
export function createCallScope(options: CallOptions): CallScope {
  const {
    session,
    resources,
    grants,
    clock = systemClock,
    signal,
    timeoutMs,
    policyTimeoutMs = 5_000,
    onEvent,
  } = options;
  checkMilliseconds('timeoutMs', timeoutMs);
  checkMilliseconds('policyTimeoutMs', policyTimeoutMs);
  const toolset = toToolset(options.tools);
  const policies = bindHostPolicies(options.policies);
  checkPolicies(policies, toolset);
  const bound = resources === undefined ? noResources : new Map(Object.entries(resources));
  const lifetime = startLifetime({ clock, signal, timeoutMs });
  return {
    toolset,
    session,
    hostPolicies: policies,
    policiesFor: () => policies,
    observers: observersOf(policies),
    resources: bound,
    surroundings: { session: readerOf(session), filesystem: readOnlyFilesystem(bound), deadline: lifetime.deadline },
    grants: grants === undefined ? noGrants : new Set(grants),
    approve: options.approve,
    unattended: options.unattended ?? false,
    policyTimeoutMs,
    lifetime,
    clock,
    emit: onEvent === undefined ? undefined : isolate(onEvent, session),
  };
}

/** The same scope with a prompt's tools, and with its policies in force after the host's. */
export function bindPrompt(scope: CallScope, { tools, policies, allPolicies }: RenderedPrompt): CallScope {
  const host = scope.hostPolicies;
  const byTool = new Map(tools.map(({ name }) => [name, [...host, ...(policies.get(name) ?? [])]]));
  return {
    ...scope,
    toolset: toToolset(tools),
    policiesFor: (toolName) => byTool.get(toolName) ?? host,
    observers: observersOf([...host, ...allPolicies]),
  };
}

const hostPolicies = new WeakMap<readonly Policy[], readonly BoundPolicy[]>();

/** Gives the host's policies their keys, once for each list. */
function bindHostPolicies(policies: readonly Policy[] | undefined): readonly BoundPolicy[] {
  if (policies === undefined) return noPolicies;
  let bound = hostPolicies.get(policies);
  if (bound === undefined || bound.length !== policies.length) {
    bound = policies.map((policy) => ({ key: `host/${policy.id}`, policy }));
    hostPolicies.set(policies, bound);
  }
  return bound;
}

const checked = new WeakMap<readonly BoundPolicy[], Toolset>();

function checkPolicies(policies: readonly BoundPolicy[], toolset: Toolset): void {
  if (checked.get(policies) === toolset) return;
  const keys = new Set<string>();
  for (const { key, policy } of policies) {
    if (keys.has(key)) {
      throw new HoldfastError(
        'policy.key.duplicate',
        `Two policies have the key \`${key}\`; give one of them an \`id\`.`,
        {
          data: { key },
        },
      );
    }
    keys.add(key);
    const unknown = policy.tools.find((name) => !toolset.byName.has(name));
    if (unknown !== undefined) {
      throw new HoldfastError(
        'policy.tool.unknown',
        `The policy \`${key}\` mentions \`${unknown}\`, which is no tool here.`,
        { data: { key, tool: unknown } },
      );
    }
  }
  checked.set(policies, toolset);
}

function observersOf(policies: readonly BoundPolicy[]): readonly BoundPolicy[] {
  return policies.some(({ policy }) => policy.onResult === undefined)
    ? policies.filter(({ policy }) => policy.onResult !== undefined)
    : policies;
}

const readers = new WeakMap<Session, SessionReader>();

/** The session as a policy may use it. */
function readerOf(session: Session): SessionReader {
  let reader = readers.get(session);
  if (reader === undefined) {
    reader = Object.freeze({ read: session.read.bind(session) });
    readers.set(session, reader);
  }
  return reader;
}

/** A listener that cannot break what it listens to. */
function isolate(listener: (event: RunEvent) => void, session: Session): (event: RunEvent) => void {
  return (event) => {
    try {
      listener(event);
    } catch (thrown) {
      session.record({ type: 'subscriber-error', event: event.type, message: describeThrown(thrown) });
    }
  };
}

function checkMilliseconds(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
    throw new HoldfastError('options.invalid', `\`${name}\` must be a positive number of milliseconds, got ${value}.`);
  }
}
