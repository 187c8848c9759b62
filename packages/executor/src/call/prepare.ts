import {
  type CallFacts,
  HoldfastError,
  type Json,
  type JsonObject,
  type PlaceView,
  type PreparedCall,
  type Redactor,
  type Tool,
  type ToolCall,
} from '@holdfast/core';
import {
  copyJson,
  deepFreeze,
  describeThrown,
  freezeInput,
  isPlainObject,
  modelJsonLimits,
  type ParsedJson,
  parseJson,
  toProblem,
} from '@holdfast/core/internal';
import type { Problem, RecordedFacts } from '@holdfast/core/types';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { checkToolExamples, findMissingCompiler } from '@holdfast/schema/internal';
import { failure, unknownTool } from './ending.ts';
import type { CallRecord } from './running-call.ts';
import type { CallScope } from './scope.ts';
import type { CompiledTool, CompiledTools, Ended, IdentifiedCall, Prepared } from './types.ts';

/** Creates facts of calls for policies and the record, from the host's option `facts`. */
export interface ScopeFacts {
  readonly place: PlaceView;
  /** Adds facts, computed on first access. */
  attach(call: PreparedCall): PreparedCall;
  madeOf(call: PreparedCall): CallFacts | undefined;
  /** Recomputes the facts of a call; true if they differ. */
  renew(call: PreparedCall): boolean;
  /** Notes the files that a starting call writes, however it ends. */
  begin(call: PreparedCall): void;
  recorded(call: CallRecord): RecordedFacts | undefined;
}

/** Normalizes a call from a model, a tool or a host. Reads each property of its arguments once. `fallbackId` is called only if the id is missing. */
export function identifyCall({ id, name, arguments: raw }: ToolCall, fallbackId: () => string): IdentifiedCall {
  const given: unknown = id;
  const called: unknown = name;
  const callId = typeof given === 'string' && given !== '' ? given : fallbackId();
  // No tool has such a name, and the outcome reports it.
  const toolName = typeof called === 'string' ? called : `(${typeof called})`;
  if (typeof raw === 'string') return { id: callId, name: toolName, arguments: raw, problem: undefined };
  if (raw === undefined) return { id: callId, name: toolName, arguments: '', problem: undefined };
  const copied = copyJson(raw, modelJsonLimits);
  return copied.ok
    ? { id: callId, name: toolName, arguments: copied.value, problem: undefined }
    : { id: callId, name: toolName, arguments: null, problem: unusable(copied) };
}

type Unusable = Extract<ParsedJson, { readonly ok: false }>;

/** Reasons of `arguments.invalid`; none if the tool's schema rejects them. */
type ArgumentsReason =
  | 'malformed'
  | 'not_json'
  | 'not_object'
  | 'too_deep'
  | 'too_large'
  | 'reserved_key'
  | 'duplicate_key'
  | 'number.inexact'
  | 'check_failed';

const refusals: Readonly<Record<Unusable['reason'], ArgumentsReason>> = {
  syntax: 'malformed',
  type: 'not_json',
  depth: 'too_deep',
  key: 'reserved_key',
  duplicate: 'duplicate_key',
  size: 'too_large',
  inexact: 'number.inexact',
};

/** The problem of unusable arguments, as reported in the outcome. */
function unusable({ reason, problem }: Pick<Unusable, 'reason' | 'problem'>): Problem {
  return refused(`Cannot read the arguments: ${problem}.`, refusals[reason]);
}

/** Registers the secrets in the arguments with `redactor` before anything is reported. `given`: the raw text or value. */
export function learnArguments(
  redactor: Redactor | undefined,
  compiled: CompiledTool | undefined,
  given: unknown,
): void {
  if (redactor === undefined || compiled === undefined) return;
  redactor.learnArguments(compiled.input?.jsonSchema, given);
}

/** Looks up the tool and parses the arguments. */
export function prepare(source: IdentifiedCall, { toolset, session, prompt, facts }: CallScope): Prepared | Ended {
  const compiled = toolset.byName.get(source.name);
  if (compiled === undefined) {
    const closed = prompt?.toolNames?.has(source.name) === true;
    return { type: 'ended', ending: unknownTool(source.name, closed ? undefined : toolset.byName.keys()) };
  }
  if (compiled.missing !== undefined) return { type: 'ended', ending: failure('denied', compiled.missing) };
  try {
    const parsed = parseArguments(source, compiled);
    if ('code' in parsed) return { type: 'ended', ending: failure('invalid', parsed) };
    // Also secrets that the schema filled in or transformed.
    if (session.redactor !== undefined) learnArguments(session.redactor, compiled, parsed.input);
    const call = Object.freeze({ id: source.id, tool: compiled.tool, input: parsed.input });
    return {
      type: 'prepared',
      compiled,
      recorded: parsed.recorded,
      call: facts === undefined ? call : facts.attach(call),
    };
  } catch (thrown) {
    // The schema's own check threw.
    const why = `Checking the arguments failed: ${describeThrown(thrown)}`;
    const problem = toProblem(thrown, refused(why, 'check_failed'), why);
    return { type: 'ended', ending: failure('invalid', problem, { thrown }) };
  }
}

interface Parsed {
  readonly input: JsonObject;
  /** The input as JSON; the raw arguments if the schema's output is not JSON. */
  readonly recorded: JsonObject;
}

const noInput: JsonObject = Object.freeze({});
const nothing: Parsed = { input: noInput, recorded: noInput };

/**
 * Turns raw arguments into validated, frozen input. Text is parsed once; a value was copied before. Refuses anything but one JSON
 * object, duplicate keys, `__proto__`, numbers that overflow, more than 64 levels, 10,000 keys or 1 MiB, and values that the tool's
 * schema rejects.
 */
function parseArguments(call: IdentifiedCall, { tool, input }: CompiledTool): Parsed | Problem {
  if (call.problem !== undefined) return call.problem;
  let decoded: Json = call.arguments;
  if (typeof decoded === 'string') {
    const read = input?.read?.(decoded);
    if (read !== undefined) return toParsed(read.value, read.decoded);
    const parsed = decoded.trim() === '' ? nothingSent : parseJson(decoded);
    if (!parsed.ok) return unusable(parsed);
    decoded = parsed.value;
  }
  if (!isPlainObject(decoded)) {
    const kind = decoded === null ? 'null' : Array.isArray(decoded) ? 'an array' : `a ${typeof decoded}`;
    return refused(`The arguments must be one JSON object, got ${kind}.`, 'not_object');
  }
  if (input === undefined) {
    const [extra] = Object.keys(decoded);
    if (extra === undefined) return nothing;
    return refused(`\`${tool.name}\` takes no arguments, got \`${extra.slice(0, 100)}\`.`);
  }
  const validation = input.validate(decoded);
  if (!validation.ok) {
    return refused(`Invalid arguments for \`${tool.name}\`: ${describeIssues(validation.issues)}`);
  }
  return toParsed(validation.value, decoded);
}

function toParsed(value: unknown, decoded: unknown): Parsed {
  // The schema describes an object; a transform to something else is the author's choice.
  const made = value as JsonObject;
  return { input: made, recorded: freezeInput(made) ? made : deepFreeze(decoded as JsonObject) };
}

const nothingSent: ParsedJson = { ok: true, value: noInput };

function refused(message: string, reason?: ArgumentsReason): Problem {
  return { code: 'arguments.invalid', reason, message };
}

const noArguments: JsonObject = Object.freeze({
  type: 'object',
  properties: Object.freeze({}),
  additionalProperties: false,
});
const compiledTools = new WeakMap<Tool, CompiledTool>();
const toolsets = new WeakMap<readonly Tool[], { readonly tools: readonly Tool[]; readonly toolset: CompiledTools }>();

/**
 * Compiles a list of tools, once per list; a modified list is compiled again.
 *
 * @throws HoldfastError `tool.invalid`, or the error of compiling a schema.
 */
export function compileTools(tools: readonly Tool[]): CompiledTools {
  const known = toolsets.get(tools);
  if (known?.tools.length === tools.length && known.tools.every((tool, at) => tool === tools[at])) return known.toolset;
  const byName = new Map<string, CompiledTool>();
  const places = new Map<string, number>();
  for (const [at, tool] of tools.entries()) {
    if (!isTool(tool)) {
      throw new HoldfastError('options.invalid', '`tools` must be a list of tools: create each with `defineTool`.', {
        data: { reason: 'kind', option: 'tools' },
      });
    }
    if (byName.has(tool.name)) {
      throw new HoldfastError('tool.invalid', `Two tools are named \`${tool.name}\`; rename one of them.`, {
        data: { reason: 'name.duplicate', name: tool.name },
      });
    }
    byName.set(tool.name, compileTool(tool));
    places.set(tool.name, at);
  }
  // Shared by all requests.
  const declarations = Object.freeze([...byName.values()].map(({ declaration }) => declaration));
  const missing = [...byName.values()].find((compiled) => compiled.missing !== undefined)?.missing;
  const toolset: CompiledTools = { byName, places, declarations, missing };
  toolsets.set(tools, { tools: [...tools], toolset });
  return toolset;
}

function compileTool(tool: Tool): CompiledTool {
  const known = compiledTools.get(tool);
  if (known !== undefined) return known;
  const missing = findMissingCompiler(tool.inputSchema) ?? findMissingCompiler(tool.outputSchema);
  if (missing !== undefined) return withoutSchemas(tool, missing);
  const input = tool.inputSchema === undefined ? undefined : compileSchema(tool.inputSchema);
  const inputSchema = input?.jsonSchema ?? noArguments;
  if (!describesObject(inputSchema)) {
    throw new HoldfastError('tool.invalid', `The input schema of \`${tool.name}\` must describe an object.`, {
      data: { reason: 'input.not_object', name: tool.name },
    });
  }
  checkToolExamples(tool);
  const compiled: CompiledTool = {
    tool,
    input,
    output: tool.outputSchema === undefined ? undefined : compileSchema(tool.outputSchema),
    declaration: Object.freeze({ name: tool.name, description: tool.description, inputSchema }),
    missing: undefined,
  };
  compiledTools.set(tool, compiled);
  return compiled;
}

/** A tool that is offered but cannot run. */
function withoutSchemas(tool: Tool, { code, message }: HoldfastError): CompiledTool {
  const { name, description } = tool;
  const declaration = Object.freeze({ name, description, inputSchema: noArguments });
  const problem = { code, message: `\`${name}\` cannot be run. ${message}` };
  return { tool, input: undefined, output: undefined, declaration, missing: problem };
}

function isTool(value: unknown): boolean {
  return isPlainObject(value) && typeof value['name'] === 'string' && Array.isArray(value['examples']);
}

function describesObject(schema: JsonObject): boolean {
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  return ['properties', 'allOf', 'anyOf', 'oneOf', '$ref'].some((keyword) => Object.hasOwn(schema, keyword));
}
