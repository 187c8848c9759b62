import {
  allow,
  checkToolName,
  HoldfastError,
  type Json,
  type Policy,
  type PolicyContext,
  type PolicyResult,
  type PreparedCall,
  type Tool,
} from '@holdfast/core';
import { callBudget, rateLimit, requireApproval } from '@holdfast/policy';
import { renameAll, renamePolicy, toOwnNames } from './own-names.ts';
import { checkPrefix } from './take-plugin.ts';

/** Tools with the policies that belong to them: `markdownSection({ title, template, ...toolset })`. */
export interface Toolset {
  readonly tools: readonly Tool[];
  readonly policies: readonly Policy[];
}

/** What the wrappers take: tools, with policies or without. */
export type ToolsetSource = Toolset | readonly Tool[];

/**
 * The tools as `<prefix>_<name>`. Policies of the toolset go on seeing the names before, and what a tool calls by such a name is still
 * the tool beside it.
 *
 * @throws HoldfastError `registry.prefix.invalid`; as `renameTools`.
 */
export function prefixTools(source: ToolsetSource, prefix: string): Toolset {
  checkPrefix(prefix);
  return rename(source, ({ name }) => `${prefix}_${name}`);
}

/**
 * The tools with other names: `renameTools(gitTools, { push: 'publish' })`. Policies of the toolset go on seeing the old names for their
 * own tools, and no foreign tool of such a name is taken for one of them; what a tool calls by an old name is still the tool beside it.
 *
 * @throws HoldfastError `toolset.tool.unknown`, `toolset.name.duplicate`, `tool.name.invalid`, `tool.name.reserved`.
 */
export function renameTools(source: ToolsetSource, names: Readonly<Record<string, string>>): Toolset {
  const renamed = new Map(Object.entries(names));
  checkKnown(source, [...renamed.keys()]);
  return rename(source, ({ name }) => renamed.get(name) ?? name);
}

/**
 * The tools that `keep` answers `true` for. Policies stay; a tool that is left out is not there for the others either, whoever else
 * has its name.
 */
export function filterTools(source: ToolsetSource, keep: (tool: Tool) => boolean): Toolset {
  return rename(source, (tool) => (keep(tool) === true ? tool.name : undefined));
}

export interface ApproveToolsOptions {
  /** Names of tools of the toolset. Default: all. */
  readonly tools?: readonly string[];
  /** Which inputs need it; default all. Anything but `false` asks, throwing denies. */
  readonly when?: (input: Json) => boolean;
  /** Shown to the person; default says which tool it is. */
  readonly reason?: string;
  /** Of the policy. Default: `approve` and the names of the tools; needed for two over the same tools. */
  readonly id?: string;
}

/**
 * A person is asked before these tools run. @throws HoldfastError `toolset.tool.unknown`; as `requireApproval`.
 */
export function approveTools(source: ToolsetSource, options: ApproveToolsOptions = {}): Toolset {
  const { tools, ...rest } = options;
  return guard(source, { tools, id: options.id, verb: 'approve' }, ({ names, id }) =>
    requireApproval({ ...rest, tools: names, id }),
  );
}

export interface LimitToolsOptions {
  /** Names of tools of the toolset, which have the limit together. Default: all. */
  readonly tools?: readonly string[];
  /** Successful calls. Integer, at least 1. */
  readonly maxCalls: number;
  /** In how many milliseconds. Default: in the whole session. */
  readonly perMs?: number;
  /** Of the policy, by which it keeps its count. Default: `limit` and the names of the tools; needed for two over the same tools. */
  readonly id?: string;
}

/** So many successful calls of these tools, and no more. @throws HoldfastError `toolset.tool.unknown`; as `callBudget`, `rateLimit`. */
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
  // Nothing to guard: `filterTools` may leave nothing over.
  if (tools.length === 0) return toFrozen(tools, policies);
  const ownId = [verb, ...names].join('-').replaceAll('_', '-').slice(0, 64);
  return toFrozen(tools, [...policies, make({ names, id: id ?? ownId })]);
}

/** `policy` for some tools: it is asked about no other and hears of no other. */
function onlyFor(tools: readonly string[], policy: Policy): Policy {
  const names: ReadonlySet<string> = new Set(tools);
  return Object.freeze({
    ...policy,
    tools: Object.freeze([...names]),
    check: (call: PreparedCall, context: PolicyContext) =>
      names.has(call.tool.name) ? policy.check(call, context) : allow,
    onResult: (call: PreparedCall, result: PolicyResult, context: PolicyContext) =>
      names.has(call.tool.name) ? policy.onResult?.(call, result, context) : undefined,
  });
}

/** @throws HoldfastError `toolset.tool.unknown`. */
function checkKnown(source: ToolsetSource, names: readonly string[]): void {
  const { tools } = toToolset(source);
  const known = new Set(tools.map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const list = [...known].map((name) => `\`${name}\``).join(', ');
  throw new HoldfastError(
    'toolset.tool.unknown',
    `There is no tool \`${String(unknown).slice(0, 100)}\` among ${list.slice(0, 2_000) || 'no tools'}.`,
  );
}

function toToolset(source: ToolsetSource): Toolset {
  // `Array.isArray` does not tell a readonly array from anything else.
  return 'policies' in source ? source : { tools: source, policies: [] };
}

function toFrozen(tools: readonly Tool[], policies: readonly Policy[]): Toolset {
  return Object.freeze({ tools: Object.freeze([...tools]), policies: Object.freeze([...policies]) });
}
