import {
  allow,
  HoldfastError,
  type Json,
  type Policy,
  type PolicyContext,
  type PolicyResult,
  type PreparedCall,
  type Tool,
} from '@holdfast/core';
import { checkToolName } from '@holdfast/core/internal';
import { callBudget, rateLimit, requireApproval } from '@holdfast/policy';
import { renameAll, renamePolicy, toOwnNames } from './own-names.ts';
import { checkPrefix } from './take-plugin.ts';

/** Tools with their policies: `markdownSection({ title, template, ...toolset })`. */
export interface Toolset {
  readonly tools: readonly Tool[];
  readonly policies: readonly Policy[];
}

/** The input of the wrappers: tools, with or without policies. */
export type ToolsetSource = Toolset | readonly Tool[];

/**
 * Renames the tools to `<prefix>_<name>`. Policies of the toolset and calls between its tools keep using the old names.
 *
 * @throws HoldfastError `registry.invalid`, and the errors of `renameTools`.
 */
export function prefixTools(source: ToolsetSource, prefix: string): Toolset {
  checkPrefix(prefix);
  return rename(source, ({ name }) => `${prefix}_${name}`);
}

/**
 * Renames tools: `renameTools(gitTools, { push: 'publish' })`. Policies of the toolset and calls between its tools keep
 * using the old names; foreign tools with such a name do not match.
 *
 * @throws HoldfastError `toolset.invalid`, `tool.invalid`.
 */
export function renameTools(source: ToolsetSource, names: Readonly<Record<string, string>>): Toolset {
  const renamed = new Map(Object.entries(names));
  checkKnown(source, [...renamed.keys()]);
  return rename(source, ({ name }) => renamed.get(name) ?? name);
}

/**
 * Keeps the tools for which `keep` returns `true`. Policies stay; other tools of the set cannot call a removed tool,
 * even if a foreign tool has its name.
 */
export function filterTools(source: ToolsetSource, keep: (tool: Tool) => boolean): Toolset {
  return rename(source, (tool) => (keep(tool) === true ? tool.name : undefined));
}

export interface ApproveToolsOptions {
  /** Names of tools in the toolset. Default: all. */
  readonly tools?: readonly string[];
  /** The inputs that need approval; default all. Any result but `false` asks; a throw denies. */
  readonly when?: (input: Json) => boolean;
  /** Shown to the person; by default, names the tool. */
  readonly reason?: string;
  /** Id of the policy. Default: `approve` and the tool names; required for two over the same tools. */
  readonly id?: string;
}

/** Requires a person's approval for these tools. @throws HoldfastError `toolset.invalid`, and the errors of `requireApproval`. */
export function approveTools(source: ToolsetSource, options: ApproveToolsOptions = {}): Toolset {
  const { tools, ...rest } = options;
  return guard(source, { tools, id: options.id, verb: 'approve' }, ({ names, id }) =>
    requireApproval({ ...rest, tools: names, id }),
  );
}

export interface LimitToolsOptions {
  /** Names of tools in the toolset, which share the limit. Default: all. */
  readonly tools?: readonly string[];
  /** Successful calls. Integer, at least 1. */
  readonly maxCalls: number;
  /** The period in milliseconds. Default: the whole session. */
  readonly perMs?: number;
  /** Id of the policy, under which its count is stored. Default: `limit` and the tool names; required for two over the same tools. */
  readonly id?: string;
}

/**
 * Limits the successful calls of these tools. @throws HoldfastError `toolset.invalid`, and the errors of
 * `callBudget` and `rateLimit`.
 */
export function limitTools(source: ToolsetSource, { tools, maxCalls, perMs, id }: LimitToolsOptions): Toolset {
  return guard(source, { tools, id, verb: 'limit' }, (about) =>
    perMs === undefined
      ? onlyFor(about.names, callBudget({ maxCalls, id: about.id }))
      : rateLimit({ maxCalls, perMs, tools: about.names, id: about.id }),
  );
}

function rename(source: ToolsetSource, nameOf: (tool: Tool) => string | undefined): Toolset {
  const { tools, policies } = toToolset(source);
  const names = toOwnNames(tools, (tool) => {
    const name = nameOf(tool);
    if (name !== undefined) checkToolName(name);
    return name;
  });
  return toFrozen(
    renameAll(tools, names),
    names.same ? policies : policies.map((policy) => renamePolicy(policy, names)),
  );
}

interface Guarding {
  readonly tools: readonly string[] | undefined;
  readonly id: string | undefined;
  readonly verb: string;
}

function guard(
  source: ToolsetSource,
  { tools: chosen, id, verb }: Guarding,
  make: (about: { readonly names: readonly string[]; readonly id: string }) => Policy,
): Toolset {
  const { tools, policies } = toToolset(source);
  if (chosen !== undefined) checkKnown(source, chosen);
  const names = chosen ?? tools.map(({ name }) => name);
  // Nothing to guard: `filterTools` may have removed all tools.
  if (tools.length === 0) return toFrozen(tools, policies);
  const ownId = [verb, ...names].join('-').replaceAll('_', '-').slice(0, 64);
  return toFrozen(tools, [...policies, make({ names, id: id ?? ownId })]);
}

/** Restricts `policy` to some tools: it sees no other calls or results. */
function onlyFor(tools: readonly string[], policy: Policy): Policy {
  const names: ReadonlySet<string> = new Set(tools);
  return Object.freeze({
    ...policy,
    mentions: Object.freeze([...names]),
    check: (call: PreparedCall, context: PolicyContext) =>
      names.has(call.tool.name) ? policy.check(call, context) : allow,
    onResult: (call: PreparedCall, result: PolicyResult, context: PolicyContext) =>
      names.has(call.tool.name) ? policy.onResult?.(call, result, context) : undefined,
  });
}

/** @throws HoldfastError `toolset.invalid`. */
function checkKnown(source: ToolsetSource, names: readonly string[]): void {
  const { tools } = toToolset(source);
  const known = new Set(tools.map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const list = [...known].map((name) => `\`${name}\``).join(', ');
  throw new HoldfastError(
    'toolset.invalid',
    `Unknown tool \`${String(unknown).slice(0, 100)}\`. Known tools: ${list.slice(0, 2_000) || 'none'}.`,
    { data: { reason: 'tool.unknown' } },
  );
}

function toToolset(source: ToolsetSource): Toolset {
  // `Array.isArray` does not narrow readonly arrays.
  return 'policies' in source ? source : { tools: source, policies: [] };
}

function toFrozen(tools: readonly Tool[], policies: readonly Policy[]): Toolset {
  return Object.freeze({ tools: Object.freeze([...tools]), policies: Object.freeze([...policies]) });
}
