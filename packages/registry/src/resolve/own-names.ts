import {
  allow,
  HoldfastError,
  type Operation,
  type Policy,
  type PolicyContext,
  type PolicyResult,
  type PreparedCall,
  type Section,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { copyJson, isOperation, isPlainObject } from '@holdfast/core/internal';
import type { Executed, PolicyStateDefinition, ReserveContext } from '@holdfast/core/types';
import { compileSchema } from '@holdfast/schema';

/** Maps the own names of related tools to their names in force. */
export interface OwnNames {
  /** By own name; `undefined` for a tool that is not in force. */
  readonly inForce: ReadonlyMap<string, string | undefined>;
  /** The original tools, by the name in force. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** True if all are in force under their own names. */
  readonly same: boolean;
}

/** @throws HoldfastError `toolset.invalid` if two tools have the same own name or would have the same name in force. */
export function toOwnNames(tools: readonly Tool[], nameOf: (tool: Tool) => string | undefined): OwnNames {
  const inForce = new Map<string, string | undefined>();
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const name = nameOf(tool);
    const twin = inForce.has(tool.name) ? tool.name : byName.get(name ?? '')?.name;
    if (twin !== undefined) {
      throw new HoldfastError(
        'toolset.invalid',
        `\`${twin}\` and \`${tool.name}\` would both be named \`${name ?? tool.name}\`: rename one of them.`,
        { data: { reason: 'name.duplicate', names: [twin, tool.name] } },
      );
    }
    inForce.set(tool.name, name);
    if (name !== undefined) byName.set(name, tool);
  }
  return { inForce, tools: byName, same: [...inForce].every(([own, name]) => own === name) };
}

/** `tools` under their names in force, without those that are not. */
export function renameAll(tools: readonly Tool[], names: OwnNames): readonly Tool[] {
  return tools.flatMap((tool) => {
    const name = names.inForce.get(tool.name);
    return name === undefined ? [] : [names.same ? tool : renameTool(tool, name, names)];
  });
}

/** Renames `tool`. Its calls by own names still reach the tools beside it. */
function renameTool(tool: Tool, name: string, names: OwnNames): Tool {
  if (tool.execute === undefined) return Object.freeze({ ...tool, name });
  const execute = (input: unknown, context: ToolContext): Executed<unknown> =>
    // Read from the tool at each call: other functions may use `this`.
    tool.execute?.(input, renameCalls(context, names));
  return Object.freeze({ ...tool, name, execute });
}

function renameCalls(context: ToolContext, { inForce }: OwnNames): ToolContext {
  const call: ToolContext['call'] = (name, input) =>
    // A tool that is not in force must not resolve to a stranger of the same name.
    context.call(inForce.has(name) ? (inForce.get(name) ?? `absent/${name}`) : name, input);
  // Not a copy: contexts have accessors with private fields, and may get more properties. The target is empty, because a
  // proxy of a frozen object cannot replace `call`.
  return new Proxy<ToolContext>(Object.create(null), {
    get: (_, key) => (key === 'call' ? call : Reflect.get(context, key)),
    has: (_, key) => Reflect.has(context, key),
    set: () => false,
    defineProperty: () => false,
  });
}

interface RenamePolicyOptions {
  readonly id?: string;
  /** Asked only about the tools of `names`, and cannot fail other calls; still sees all successes. */
  readonly ownOnly?: boolean;
}

/**
 * Adapts `policy` to renamed tools: it sees its tools under their own names, and foreign tools with such a name under an unmatchable one.
 */
export function renamePolicy(
  policy: Policy,
  names: OwnNames,
  { id = policy.id, ownOnly = false }: RenamePolicyOptions = {},
): Policy {
  const see = viewOf(names);
  const concerns = ({ tool }: PreparedCall): boolean => !ownOnly || names.tools.has(tool.name);
  return Object.freeze({
    ...policy,
    id,
    mentions: Object.freeze(policy.mentions.flatMap((name) => toMention(name, names))),
    check: (call: PreparedCall, context: PolicyContext) => (concerns(call) ? policy.check(see(call), context) : allow),
    ...(policy.onResult === undefined
      ? {}
      : {
          onResult(call: PreparedCall, result: PolicyResult, context: PolicyContext) {
            if (concerns(call)) return policy.onResult?.(see(call), result, context);
            return learnFromOthers(policy, () => policy.onResult?.(see(call), result, context));
          },
        }),
    ...(policy.reserve === undefined
      ? {}
      : {
          reserve: (call: PreparedCall, context: ReserveContext) =>
            concerns(call) ? policy.reserve?.(see(call), context) : undefined,
        }),
  });
}

/** The name in force of a tool that a policy mentions. A tool that is not in force needs no guard. */
function toMention(name: string, { inForce, tools }: OwnNames): string | readonly [] {
  if (inForce.has(name)) return inForce.get(name) ?? [];
  // The policy cannot see this name, so its rule would never match: it must become an error.
  return tools.has(name) ? elsewhere(name) : name;
}

/** A name that no tool can have. */
function elsewhere(name: string): string {
  return `elsewhere/${name}`;
}

/** A call under own names. */
function viewOf({ inForce, tools }: OwnNames): (call: PreparedCall) => PreparedCall {
  // Policies identify calls by object identity.
  const seen = new WeakMap<PreparedCall, PreparedCall>();
  return (call) => {
    const { id, tool, input } = call;
    const own = tools.get(tool.name);
    if (own === undefined ? !inForce.has(tool.name) : own.name === tool.name) return call;
    let view = seen.get(call);
    if (view === undefined) {
      // A foreign tool with the same name.
      view = Object.freeze({ id, tool: own ?? Object.freeze({ ...tool, name: elsewhere(tool.name) }), input });
      seen.set(call, view);
    }
    return view;
  };
}

/**
 * Renames the tools of `section` and its subsections. Its policies apply as in any prompt: an error about any success
 * rejects that call. Task examples with tools that are not in force are dropped.
 */
export function renameSection(section: Section, names: OwnNames): Section {
  if (names.same) return section;
  return Object.freeze({
    ...section,
    tools: Object.freeze(renameAll(section.tools, names)),
    policies: Object.freeze(section.policies.map((policy) => renamePolicy(policy, names))),
    taskExamples: Object.freeze(
      section.taskExamples.flatMap((example) => {
        const steps = example.steps.map((step) => ({
          ...step,
          tool: names.inForce.has(step.tool) ? names.inForce.get(step.tool) : step.tool,
        }));
        return steps.some(({ tool }) => tool === undefined) ? [] : [Object.freeze({ ...example, steps })];
      }),
    ) as Section['taskExamples'],
    children: Object.freeze(section.children.map((child) => renameSection(child, names))),
  });
}

/** The state change of a policy after a foreign call; none if it would fail the call: an error, a promise, or an invalid state. */
function learnFromOthers({ state }: Policy, learn: () => unknown): unknown {
  try {
    const answer = learn();
    if (isThenable(answer)) {
      // Nothing awaits it; a rejection must not end the process.
      void Promise.allSettled([Promise.resolve(answer)]);
      return undefined;
    }
    return state !== undefined && fits(state, answer) ? answer : undefined;
  } catch {
    // A throw would reject the call. For its own tools' calls it still does.
    return undefined;
  }
}

function isThenable(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'then' in answer;
}

/** True if the session would accept the state. */
function fits(state: PolicyStateDefinition, answer: unknown): boolean {
  if (isOperation(answer)) return fitsOperation(state, answer);
  const isList = Array.isArray(answer) && answer.every(isOperation) && (answer.length > 0 || state.kind !== 'value');
  // A value that is not an operation is the whole next state.
  return isList ? answer.every((one) => fitsOperation(state, one)) : fitsWhole(state, answer);
}

function fitsOperation(state: PolicyStateDefinition, operation: Operation): boolean {
  switch (operation.op) {
    case 'clear':
      return true;
    case 'append':
      return state.kind === 'list' && operation.items.every((item) => fitsItem(state, item));
    case 'upsert':
      return state.kind === 'keyed' && typeof operation.key === 'string' && fitsItem(state, operation.item);
    case 'remove':
      return state.kind === 'keyed' && typeof operation.key === 'string';
    case 'replace':
      return fitsWhole(state, operation.value);
    default:
      // From a later version of Holdfast.
      return false;
  }
}

function fitsWhole(state: PolicyStateDefinition, value: unknown): boolean {
  switch (state.kind) {
    case 'value':
      return fitsItem(state, value);
    case 'list':
      return Array.isArray(value) && value.every((item) => fitsItem(state, item));
    case 'keyed':
      return isPlainObject(value) && Object.values(value).every((item) => fitsItem(state, item));
    default:
      return state.kind satisfies never;
  }
}

function fitsItem({ schema }: PolicyStateDefinition, item: unknown): boolean {
  const copied = copyJson(item);
  if (!copied.ok) return false;
  if (schema === undefined) return true;
  const validation = compileSchema(schema).validate(copied.value);
  return validation.ok && copyJson(validation.value).ok;
}
