import {
  checkToolName,
  HoldfastError,
  type Json,
  type JsonObject,
  type Outcome,
  type PendingApproval,
  type Tool,
} from '@holdfast/core';
import { type CallOptions, executeToolCall, openCaller } from '@holdfast/executor';
import { compileSchema } from '@holdfast/schema';
import { createSession, type Session } from '@holdfast/session';
import { type ModuleError, moduleError } from '../signature/problems.ts';
import { readToolCall } from './read-tool-call.ts';
import { toToolError } from './result.ts';

/**
 * What every runner takes, but for the tools. Without a session there is one in memory for as long as the catalog is: it keeps every
 * call, so what runs for long gives each run a session of its own. In a loop `maxResultChars` is 8,000 by default.
 */
export type ToolCatalogOptions = Partial<Omit<CallOptions, 'tools'>>;

/** A tool as a predictor is told of it. */
export interface ToolListing {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; null for a tool without one. */
  readonly args_schema: JsonObject | null;
}

/** What came of one call. `error.message` is what a predictor is told. */
export type ToolExecution =
  | { readonly type: 'ok'; readonly value: Json; readonly outcome: Outcome }
  | { readonly type: 'failed'; readonly error: ModuleError; readonly outcome: Outcome | undefined }
  | { readonly type: 'suspended'; readonly pending: readonly PendingApproval[] };

/** Tools by name, to which others may be added at any time; calls of them take the one call path. */
export interface ToolCatalog {
  /** In order of their names. Another list once a tool has been added. */
  readonly tools: readonly Tool[];
  /** @throws HoldfastError `modules.tool_duplicate`, and what a tool's name or schemas are refused with. */
  register(tool: Tool): void;
  get(name: string): Tool | undefined;
  /**
   * Never rejects for a bad call. `args` is a value or JSON text, default `{}`. Rejects with what `executeToolCall` throws for a wrong
   * configuration.
   */
  execute(name: string, args?: unknown): Promise<ToolExecution>;
  /** As `execute`, for `{ name, args }` in any shape in which a predictor may ask for one call. */
  executeCall(call: unknown): Promise<ToolExecution>;
  /** In order of names: the same tools give the same text. */
  toJSON(): readonly ToolListing[];
  /** What a runner takes: the tools as they are now, and these options over the catalog's. */
  callOptions(options?: ToolCatalogOptions): CallOptions;
}

/**
 * Makes a catalog. `options` hold for every call of it.
 *
 * @throws HoldfastError `modules.tool_duplicate`, and what a tool's name or schemas are refused with.
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
      throw new HoldfastError(
        'modules.tool_duplicate',
        `There is a tool \`${tool.name}\` already; give this one another name.`,
        { data: { name: tool.name } },
      );
    }
    // What the call path asks of a tool it asks here already, not at its first call.
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
          ? `these are ${reading.calls.length} calls`
          : reading.type === 'invalid'
            ? reading.message
            : 'there is none';
      const message = `Invalid arguments: One call is wanted, as \`{ "name": ..., "args": { ... } }\`: ${problem}.`;
      return { type: 'failed' as const, error: moduleError('modules.invalid_arguments', message), outcome: undefined };
    },
    toJSON() {
      listings ??= Object.freeze(listTools().map(toListing));
      return listings;
    },
    callOptions,
  });
}

/** `options` with those of `over` in their place. What is `undefined` was not given: it takes no policy away. */
export function putOver<Options extends object>(options: Options, over: Options): Options {
  const given = Object.entries(over).filter(([, value]) => value !== undefined);
  return { ...options, ...Object.fromEntries(given) };
}

function toListing({ name, description, inputSchema }: Tool): ToolListing {
  const args_schema = inputSchema === undefined ? null : compileSchema(inputSchema).jsonSchema;
  return Object.freeze({ name, description, args_schema });
}
