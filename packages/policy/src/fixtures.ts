import {
  type Decision,
  defineTool,
  type FilesystemReader,
  HoldfastError,
  type Json,
  type KeyedState,
  type ListState,
  type Operation,
  type Policy,
  type PolicyContext,
  type PolicyResult,
  type PreparedCall,
  replace,
} from '@holdfast/core';
import { isOperation } from '@holdfast/core/internal';
import type { Touched } from '@holdfast/core/types';

/** Test fixtures: a call, a folder, and a policy with state. */

export function callOf(name: string, input: Json = {}): PreparedCall {
  return { id: 'c1', tool: defineTool({ name, description: 'A tool of the tests.' }), input };
}

export function resultOf(touched: Partial<Touched> = {}): PolicyResult {
  return { value: null, message: '', touched: new Map([['filesystem', { reads: [], writes: [], ...touched }]]) };
}

/** A folder as policies see it: `files` by resolved path, with the content as version. `..` is rejected. */
export function folder(files: ReadonlyMap<string, string>, directories: readonly string[] = []): FilesystemReader {
  const unused = (): never => {
    throw new Error('policies do not use this method');
  };
  return {
    async resolve(path) {
      const parts = path.split('/').filter((part) => part !== '' && part !== '.');
      if (parts.includes('..'))
        throw new HoldfastError('path.invalid', `\`${path}\` leaves the workspace.`, { data: { reason: 'escape' } });
      return parts.join('/');
    },
    async stat(path) {
      if (directories.includes(path)) return { type: 'directory', size: 0, version: 'd' };
      const content = files.get(path);
      return content === undefined ? undefined : { type: 'file', size: content.length, version: content };
    },
    read: unused,
    readText: unused,
    list: unused,
    walk: unused,
  };
}

/** A policy with its state, stored as a session stores it. */
export interface PolicyRun {
  check(call: PreparedCall): Promise<Decision>;
  /** Reports a success to the policy and applies the result; errors change nothing. */
  succeed(call: PreparedCall, result?: PolicyResult): void;
  /** Applies the policy's reservation for a call with the key `key`, as if the call had ended in doubt. */
  doubt(call: PreparedCall, key: string): void;
  state(): unknown;
  /** Saves the state as JSON; `load` restores it. */
  save(): string;
  load(saved: string): void;
}

export function runPolicy(policy: Policy, filesystem?: FilesystemReader): PolicyRun {
  let kept = initial(policy);
  const context = (): PolicyContext =>
    Object.freeze({
      state: toState(policy, kept),
      session: { read: () => neverRead() },
      filesystem,
      deadline: { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY },
    });
  return {
    check: async (call) => policy.check(call, context()),
    succeed(call, result = resultOf()) {
      const update = policy.onResult?.(call, result, context());
      for (const operation of operationsOf(policy, update)) kept = apply(policy, kept, operation);
    },
    doubt(call, callKey) {
      const update = policy.reserve?.(call, Object.freeze({ ...context(), callKey }));
      for (const operation of operationsOf(policy, update)) kept = apply(policy, kept, operation);
    },
    state: () => toState(policy, kept),
    save: () => JSON.stringify(kept instanceof Map ? [...kept] : kept),
    load(saved) {
      const value: unknown = JSON.parse(saved);
      kept = kept instanceof Map ? new Map(value as [string, unknown][]) : value;
    },
  };
}

function keyedState<Item>(items: ReadonlyMap<string, Item>): KeyedState<Item> {
  return {
    size: items.size,
    get: (key) => items.get(key),
    has: (key) => items.has(key),
    toObject: () => Object.fromEntries(items),
    [Symbol.iterator]: () => items.entries(),
  };
}

function listState<Item>(items: readonly Item[]): ListState<Item> {
  return {
    size: items.length,
    at: (index) => items.at(index),
    toArray: () => [...items],
    [Symbol.iterator]: () => items.values(),
  };
}

function neverRead(): never {
  throw new Error('policies of this package do not read the session');
}

function initial(policy: Policy): unknown {
  if (policy.state?.kind === 'keyed') return new Map();
  return policy.state?.kind === 'list' ? [] : policy.state?.initial;
}

function toState(policy: Policy, kept: unknown): unknown {
  if (policy.state?.kind === 'keyed') return keyedState(kept as ReadonlyMap<string, unknown>);
  return policy.state?.kind === 'list' ? listState(kept as readonly unknown[]) : kept;
}

function operationsOf(policy: Policy, update: unknown): readonly Operation[] {
  if (update === undefined) return [];
  if (isOperation(update)) return [update];
  const isValue = policy.state?.kind === 'value';
  if (Array.isArray(update) && update.every(isOperation) && !(isValue && update.length === 0)) return update;
  if (isValue) return [replace(update)];
  throw new Error(`\`${policy.id}\` returned no operation`);
}

function apply(policy: Policy, kept: unknown, operation: Operation): unknown {
  switch (operation.op) {
    case 'clear':
      return initial(policy);
    case 'replace':
      return kept instanceof Map ? new Map(Object.entries(operation.value as object)) : operation.value;
    case 'append':
      return [...(kept as readonly unknown[]), ...operation.items];
    case 'upsert':
      return new Map(kept as ReadonlyMap<string, unknown>).set(operation.key, operation.item);
    case 'remove':
      return new Map([...(kept as ReadonlyMap<string, unknown>)].filter(([key]) => key !== operation.key));
  }
}
