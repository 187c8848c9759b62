import {
  allow,
  copyJson,
  type Executed,
  HoldfastError,
  isOperation,
  isPlainObject,
  type Operation,
  type Policy,
  type PolicyContext,
  type PolicyResult,
  type PolicyStateDefinition,
  type PreparedCall,
  type ReserveContext,
  type Section,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';

/** What tools that belong together are called where they are in force, and what they call each other. */
export interface OwnNames {
  /** By own name; `undefined` for a tool that is not in force. */
  readonly inForce: ReadonlyMap<string, string | undefined>;
  /** The tools as they were, by the name in force. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Whether all are in force under their own names. */
  readonly same: boolean;
}

/**
 * @throws HoldfastError `toolset.name.duplicate` when two of them have one own name, or would have one name.
 */
export function toOwnNames(tools: readonly Tool[], nameOf: (tool: Tool) => string | undefined): OwnNames {
  const inForce = new Map<string, string | undefined>();
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const name = nameOf(tool);
    const twin = inForce.has(tool.name) ? tool.name : byName.get(name ?? '')?.name;
    if (twin !== undefined) {
      throw new HoldfastError(
        'toolset.name.duplicate',
        `Both \`${twin}\` and \`${tool.name}\` would be called \`${name ?? tool.name}\`: give one another name.`,
        { data: { names: [twin, tool.name] } },
      );
    }
    inForce.set(tool.name, name);
    if (name !== undefined) byName.set(name, tool);
  }
  return { inForce, tools: byName, same: [...inForce].every(([own, name]) => own === name) };
}

/** `tools` as they are in force; those that are not are left out. */
export function renameAll(tools: readonly Tool[], names: OwnNames): readonly Tool[] {
  return tools.flatMap((tool) => {
    const name = names.inForce.get(tool.name);
    return name === undefined ? [] : [names.same ? tool : renameTool(tool, name, names)];
  });
}

/** `tool` under another name. What it calls by the own name of another one is that one. */
function renameTool(tool: Tool, name: string, names: OwnNames): Tool {
  if (tool.execute === undefined) return Object.freeze({ ...tool, name });
  const execute = (input: unknown, context: ToolContext): Executed<unknown> =>
    // Asked for again at each call: the other functions are looked up on the tool, and find what they expect there.
    tool.execute?.(input, renameCalls(context, names));
  return Object.freeze({ ...tool, name, execute });
}

function renameCalls(context: ToolContext, { inForce }: OwnNames): ToolContext {
  const call: ToolContext['call'] = (name, input) =>
    // A tool that is not in force is not there: whoever has its name in force is somebody else.
    context.call(inForce.has(name) ? (inForce.get(name) ?? `absent/${name}`) : name, input);
  // Not a copy: what a context has are accessors with private parts, and more may be added to them. The target stays empty, as a
  // frozen one would not let `call` be another.
  return new Proxy<ToolContext>(Object.create(null), {
    get: (_, key) => (key === 'call' ? call : Reflect.get(context, key)),
    has: (_, key) => Reflect.has(context, key),
    set: () => false,
    defineProperty: () => false,
  });
}

interface RenamePolicyOptions {
  readonly id?: string;
  /** It is asked about the tools of `names` only, and fails no other call; it sees all successes. */
  readonly ownOnly?: boolean;
}

/** `policy` where tools are called otherwise: it sees them under their own names, and what merely has one of these names under none. */
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
    tools: Object.freeze(policy.tools.flatMap((name) => toMention(name, names))),
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

/** What a policy mentions, as others call it. A tool that is not in force is there, and needs no guard. */
function toMention(name: string, { inForce, tools }: OwnNames): string | readonly [] {
  if (inForce.has(name)) return inForce.get(name) ?? [];
  // Of its own tools it sees own names only: what it says of this one would never hold, and has to be an error.
  return tools.has(name) ? elsewhere(name) : name;
}

/** No tool can be called so. */
function elsewhere(name: string): string {
  return `elsewhere/${name}`;
}

/** A call as whoever knows only own names sees it. */
function viewOf({ inForce, tools }: OwnNames): (call: PreparedCall) => PreparedCall {
  // Policies tell calls apart by identity.
  const seen = new WeakMap<PreparedCall, PreparedCall>();
  return (call) => {
    const { id, tool, input } = call;
    const own = tools.get(tool.name);
    if (own === undefined ? !inForce.has(tool.name) : own.name === tool.name) return call;
    let view = seen.get(call);
    if (view === undefined) {
      // It is another one than the one that the name stands for.
      view = Object.freeze({ id, tool: own ?? Object.freeze({ ...tool, name: elsewhere(tool.name) }), input });
      seen.set(call, view);
    }
    return view;
  };
}

/**
 * `section` and everything under it where tools are called otherwise. Its policies are in force as in any prompt: what they throw about a
 * success, whoever's it is, refuses it. Task examples with a tool that is not in force are left out.
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

/**
 * What a policy makes of a call that is not its business; nothing where that would fail the call: it throws, answers late, or with what
 * its state cannot hold.
 */
function learnFromOthers({ state }: Policy, learn: () => unknown): unknown {
  try {
    const answer = learn();
    if (isThenable(answer)) {
      // Nobody waits for it: what it comes to must not end the process.
      void Promise.allSettled([Promise.resolve(answer)]);
      return undefined;
    }
    return state !== undefined && fits(state, answer) ? answer : undefined;
  } catch {
    // How a policy refuses a call after all. Its own calls it still refuses so.
    return undefined;
  }
}

function isThenable(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'then' in answer;
}

/** Whether the session would take it, as the runtime hands it on. */
function fits(state: PolicyStateDefinition, answer: unknown): boolean {
  if (isOperation(answer)) return fitsOperation(state, answer);
  const isList = Array.isArray(answer) && answer.every(isOperation) && (answer.length > 0 || state.kind !== 'value');
  // What is no operation is the whole next state.
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
      // Of a later version of Holdfast.
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
