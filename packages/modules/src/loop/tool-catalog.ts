import {
  HoldfastError,
  type Json,
  type JsonObject,
  type Outcome,
  type PendingApproval,
  type Tool,
} from '@holdfast/core';
import { checkToolName } from '@holdfast/core/internal';
import { type CallOptions, executeToolCall, openCaller } from '@holdfast/executor';
import { compileSchema } from '@holdfast/schema';
import { createSession, type Session } from '@holdfast/session';
import { type ModuleError, moduleError } from '../signature/problems.ts';
import { readToolCall } from './read-tool-call.ts';
import { toToolError } from './result.ts';

/**
 * The options of every runner, without the tools. Without a session, one in memory lasts as long as the catalog and keeps every call;
 * long-running programs should pass a session per run. In a loop, `maxResultChars` defaults to 8,000.
 */
export type ToolCatalogOptions = Partial<Omit<CallOptions, 'tools'>>;

/** The description of a tool for a predictor. */
export interface ToolListing {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; null for a tool without one. */
  readonly args_schema: JsonObject | null;
}

/** The result of one call. `error.message` is the text for a predictor. */
export type ToolExecution =
  | { readonly type: 'ok'; readonly value: Json; readonly outcome: Outcome }
  | { readonly type: 'failed'; readonly error: ModuleError; readonly outcome: Outcome | undefined }
  | { readonly type: 'suspended'; readonly pending: readonly PendingApproval[] };

/** Tools by name. More can be added at any time; calls take the governed call path. */
export interface ToolCatalog {
  /** Sorted by name. A new list after a tool was added. */
  readonly tools: readonly Tool[];
  /** @throws HoldfastError `modules.invalid`, and the errors of an invalid tool. */
  register(tool: Tool): void;
  get(name: string): Tool | undefined;
  /**
   * Never rejects for a bad call. `args` is a value or JSON text, default `{}`. Rejects with the errors of `executeToolCall` for a wrong
   * configuration.
   */
  execute(name: string, args?: unknown): Promise<ToolExecution>;
  /** Like `execute`, for `{ name, args }` in any format that a predictor may use for one call. */
  executeCall(call: unknown): Promise<ToolExecution>;
  /** Sorted by name: the same tools give the same text. */
  toJSON(): readonly ToolListing[];
  /** The options for a runner: the current tools, and `options` over those of the catalog. */
  callOptions(options?: ToolCatalogOptions): CallOptions;
}

/**
 * Creates a catalog. `options` apply to all of its calls.
 *
 * @throws HoldfastError `modules.invalid`, and the errors of an invalid tool.
 */
export function createToolCatalog(tools: readonly Tool[] = [], options: ToolCatalogOptions = {}): ToolCatalog {
  const byName = new Map<string, Tool>();
  let sorted: readonly Tool[] | undefined;
  let listings: readonly ToolListing[] | undefined;
  let own: Session | undefined;
  const ownSession = (): Session => {
    own ??= createSession(options.clock === undefined ? {} : { clock: options.clock });
    return own;
  };

  const register = (tool: Tool): void => {
    checkToolName(tool.name);
    if (byName.has(tool.name)) {
      throw new HoldfastError('modules.invalid', `A tool named \`${tool.name}\` already exists. Rename this one.`, {
        data: { reason: 'tool_duplicate', name: tool.name },
      });
    }
    // Report invalid tools here rather than at the first call.
    openCaller({ tools: [tool], session: options.session ?? ownSession() }).dispose();
    byName.set(tool.name, tool);
    sorted = undefined;
    listings = undefined;
  };
  const listTools = (): readonly Tool[] => {
    sorted ??= Object.freeze([...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
    return sorted;
  };
  const callOptions = (over: ToolCatalogOptions = {}): CallOptions => ({
    ...putOver(options, over),
    tools: listTools(),
    session: over.session ?? options.session ?? ownSession(),
  });
  const execute = async (name: string, args: unknown = {}): Promise<ToolExecution> => {
    const ended = await executeToolCall({ name, arguments: args ?? {} }, callOptions());
    if (ended.kind === 'suspended') return { type: 'suspended', pending: ended.pending };
    if (ended.kind === 'ok') return { type: 'ok', value: ended.value, outcome: ended };
    return { type: 'failed', error: toToolError(ended), outcome: ended };
  };

  for (const tool of tools) register(tool);
  return Object.freeze({
    get tools() {
      return listTools();
    },
    register,
    get: (name: string) => byName.get(name),
    execute,
    async executeCall(call: unknown) {
      const reading = readToolCall(call);
      const [only, ...others] = reading.type === 'calls' ? reading.calls : [];
      if (only !== undefined && others.length === 0) return await execute(only.name, only.args);
      const problem =
        reading.type === 'calls'
          ? `got ${reading.calls.length} calls`
          : reading.type === 'invalid'
            ? reading.message
            : 'got none';
      const message = `Invalid arguments: Expected one call, as \`{ "name": ..., "args": { ... } }\`: ${problem}.`;
      return { type: 'failed' as const, error: moduleError('InvalidArguments', message), outcome: undefined };
    },
    toJSON() {
      listings ??= Object.freeze(listTools().map(toListing));
      return listings;
    },
    callOptions,
  });
}

/** Merges `over` into `options`. Undefined members are ignored, so they cannot remove a policy. */
export function putOver<Options extends object>(options: Options, over: Options): Options {
  const given = Object.entries(over).filter(([, value]) => value !== undefined);
  return { ...options, ...Object.fromEntries(given) };
}

function toListing({ name, description, inputSchema }: Tool): ToolListing {
  const args_schema = inputSchema === undefined ? null : compileSchema(inputSchema).jsonSchema;
  return Object.freeze({ name, description, args_schema });
}
