import { HoldfastError, isHoldfastError, type JsonObject, type Tool, type ToolContext } from '@holdfast/core';
import { checkOptions, describeThrown } from '@holdfast/core/internal';
import type { Implementation } from '@modelcontextprotocol/client';
import { Secrets } from './authorization.ts';
import { Connection, type RequestOptions, type ServerIdentity } from './connection.ts';
import { importContent } from './content-tools.ts';
import type { McpDefinition } from './definition.ts';
import type { Elicit } from './elicit.ts';
import type { McpListener } from './events.ts';
import { changedError, importTool, type Trust } from './imported-tool.ts';
import { listTools } from './list-tools.ts';
import { findCollisions, toToolName } from './names.ts';
import { hasUnseenInstructions, isUnseen, type McpPins, toPins } from './pins.ts';
import { isRelay, relayResource } from './relay.ts';
import { needsTask, runTask } from './task.ts';
import { type ServerPlace, toTransportMaker } from './transport.ts';

export interface McpToolsOptions extends ServerPlace, Trust {
  /** Our name for the server: the beginning of its tools' names. 1 to 24 of `a-z`, `0-9`, `_` and `-`. */
  readonly name: string;
  /** `legacy`: speaks only the revision of 2025. Default `auto`; with a `command` that starts it twice, once to find out. */
  readonly era?: 'auto' | 'legacy';
  /**
   * Answers questions of the server to the user. `client`: the user of the client that `serveMcp` serves the call for; a client that
   * cannot ask declines. Default: none, and the server knows that it cannot ask.
   */
  readonly elicit?: Elicit | 'client';
  readonly onEvent?: McpListener;
  /** The definitions that a person has seen; others are withheld. Default: none is. */
  readonly pins?: McpPins;
  /** The name and version of this program, for the server. */
  readonly client?: Implementation;
}

/** Why a tool of a server is not among the tools. */
export interface LeftOut {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

/** The tools of a server. */
export interface McpTools extends AsyncDisposable {
  readonly name: string;
  readonly server: ServerIdentity;
  /** As the server listed them last. */
  readonly tools: readonly Tool[];
  /** The server's definitions, by our names for the tools. */
  readonly definitions: ReadonlyMap<string, McpDefinition>;
  readonly leftOut: readonly LeftOut[];
  /** Tools that differ from the pins: not to be offered, and a call fails as `mcp.changed`. */
  readonly withheld: readonly Tool[];
  /** The pins of the server as it is now. */
  readonly pins: McpPins;
  /** Asks the server for its tools again. Calls of a tool whose definition has changed since fail as `mcp.changed`. */
  refresh(): Promise<void>;
  /** Calls `listener` after `tools` has changed. */
  onChange(listener: () => void): () => void;
  /** Sends a request of the protocol as it is, past policies and log. For listing only. @throws HoldfastError `mcp.*`. */
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  /** Ends the connection, and the server's process where it has one. */
  close(): Promise<void>;
}

const rules = {
  name: 'text!',
  command: 'text',
  args: 'list',
  env: 'object',
  cwd: 'text',
  stderr: 'text',
  url: 'text',
  headers: 'object',
  authProvider: 'object',
  transport: 'function',
  trust: 'text',
  dangerous: 'boolean',
  inputs: 'text',
  era: 'text',
  elicit: 'any',
  onEvent: 'function',
  pins: 'object',
  client: 'object',
} as const;

const plainName = /^[a-z0-9_-]{1,24}$/;

/**
 * Connects to an MCP server and makes tools of what it offers: its tools, and what reads its resources and prompts. Each call runs on
 * the path of every other call. Unless the host says otherwise, each is asked about, counts as an effect outside and is never repeated.
 *
 * @throws HoldfastError `options.invalid`, `mcp.unreachable`, `mcp.error`, `tool.process.lost`, `mcp.list.invalid`.
 */
export async function mcpTools(options: McpToolsOptions): Promise<McpTools> {
  checkOptions('mcpTools', options, rules);
  const { name, elicit } = options;
  if (elicit !== undefined && elicit !== 'client' && typeof elicit !== 'function') {
    throw new HoldfastError('options.invalid', "`elicit` must be a function or `'client'`.", {
      data: { reason: 'elicit' },
    });
  }
  if (!plainName.test(name)) {
    throw new HoldfastError(
      'options.invalid',
      `\`name\` must be 1 to 24 of a-z, 0-9, _ and -, got \`${name.slice(0, 100)}\`.`,
      {
        data: { reason: 'name' },
      },
    );
  }
  const imported = new ServerTools(options);
  try {
    await imported.refresh();
    return imported;
  } catch (thrown) {
    await imported.close();
    throw thrown;
  }
}

class ServerTools implements McpTools {
  readonly name: string;
  readonly #options: McpToolsOptions;
  readonly #connection: Connection;
  readonly #listeners = new Set<() => void>();
  #server: ServerIdentity | undefined;
  /** The connection on which `#listed` was listed. */
  #listedOn = 0;
  #listed: ReadonlyMap<string, McpDefinition> = new Map();
  /** The server has changed its list, and the new one could not be read. */
  #isStale = false;
  #refreshing: Promise<void> | undefined;
  tools: readonly Tool[] = [];
  definitions: ReadonlyMap<string, McpDefinition> = new Map();
  leftOut: readonly LeftOut[] = [];
  withheld: readonly Tool[] = [];
  pins: McpPins = toPins(undefined, []);

  constructor(options: McpToolsOptions) {
    this.name = options.name;
    this.#options = options;
    const secrets = new Secrets();
    this.#connection = new Connection({
      secrets,
      name: options.name,
      openTransport: toTransportMaker(options, secrets),
      client: options.client ?? { name: 'holdfast', version: '0.0.0' },
      era: options.era ?? 'auto',
      elicit: options.elicit,
      tell: (event) => options.onEvent?.(event),
      onListChanged: () => {
        // The next call reads the list again, and fails with the error if it cannot be read.
        this.refresh().catch(() => {
          this.#isStale = true;
        });
      },
    });
  }

  get server(): ServerIdentity {
    return this.#server ?? { info: { name: this.name, version: '' }, capabilities: {} };
  }

  async refresh(): Promise<void> {
    // Its error goes to the caller that began it.
    const running = this.#refreshing?.catch(() => undefined);
    const refreshing = (running ?? Promise.resolve()).then(() => this.#list());
    this.#refreshing = refreshing;
    try {
      await refreshing;
    } finally {
      if (this.#refreshing === refreshing) this.#refreshing = undefined;
    }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    return this.#connection.request(method, params, options);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #list(): Promise<void> {
    const found = await this.#connection.open();
    const { instructions, ...unsaid } = found;
    const isUnsaid = hasUnseenInstructions(instructions, this.#options.pins);
    this.#server = isUnsaid ? unsaid : found;
    const { opened } = this.#connection;
    const listed = this.#server.capabilities.tools === undefined ? [] : await listTools(this.#connection, this.name);
    const before = describeListed(this.#listed);
    const first = this.#listedOn === 0;
    this.#listedOn = opened;
    this.#isStale = false;
    this.#listed = new Map(listed.map((definition) => [definition.name, definition]));
    this.pins = toPins(instructions, listed);
    if (!first && before === describeListed(this.#listed)) return;
    this.#take(listed);
    if (first) return;
    this.#options.onEvent?.({ type: 'tools-changed', server: this.name });
    for (const listener of this.#listeners) listener();
  }

  #take(listed: readonly McpDefinition[]): void {
    const content = importContent(this.#contentTarget(), this.server.capabilities, this.#options);
    const tools = new Map(content.map((tool) => [tool.name, tool]));
    const definitions = new Map<string, McpDefinition>();
    const leftOut: LeftOut[] = [];
    const withheld: Tool[] = [];
    const names = listed.map(({ name }) => name);
    const colliding = findCollisions(this.name, names);
    for (const definition of listed) {
      const { name } = definition;
      const ours = toToolName(this.name, name);
      const refuse = (code: string, message: string): void => void leftOut.push({ name, code, message });
      if (ours === undefined) refuse('mcp.name.invalid', 'The protocol allows no such name.');
      else if (colliding.has(name) || tools.has(ours)) {
        refuse('mcp.name.collision', `Another tool would be \`${ours}\` as well.`);
      } else {
        try {
          const isWithheld = isUnseen(definition, this.#options.pins);
          const tool = importTool(ours, definition, this.#callTarget(name, isWithheld), this.#options);
          definitions.set(ours, definition);
          if (isWithheld) {
            withheld.push(tool);
            refuse('mcp.changed', 'It is not the tool that a person has seen.');
          } else tools.set(ours, tool);
        } catch (thrown) {
          refuse(isHoldfastError(thrown) ? thrown.code : 'mcp.tool.invalid', describeThrown(thrown));
        }
      }
    }
    this.tools = Object.freeze([...tools.values()]);
    this.definitions = definitions;
    this.leftOut = Object.freeze(leftOut);
    this.withheld = Object.freeze(withheld);
  }

  #callTarget(
    name: string,
    isWithheld: boolean,
  ): { server: string; ready(digest: string): Promise<void>; call: CallSender } {
    return {
      server: this.name,
      ready: async (digest) => {
        await this.#ready();
        if (isWithheld || this.#listed.get(name)?.digest !== digest) throw changedError(this.name, name);
      },
      call: (params, context) => this.#call(name, params, context),
    };
  }

  #contentTarget(): Parameters<typeof importContent>[0] {
    return {
      server: this.name,
      ready: () => this.#ready(),
      request: (method, params, context) => this.#send(method, params, context),
    };
  }

  /** A new connection may lead to another server: its list is read before anything is sent. */
  async #ready(): Promise<void> {
    await this.#refreshing;
    await this.#connection.open();
    if (this.#isStale || this.#connection.opened !== this.#listedOn) await this.refresh();
  }

  #call(name: string, params: JsonObject, context: ToolContext): Promise<JsonObject> {
    const definition = this.#listed.get(name);
    const send = (method: string, given: JsonObject): Promise<JsonObject> => this.#send(method, given, context);
    if (definition === undefined || !needsTask(definition.listed) || this.#connection.era !== 'legacy')
      return send('tools/call', params);
    const { signal } = context;
    const progress = (message: string): void => this.#tellProgress(message, context);
    const cancel = (method: string, given: JsonObject): Promise<JsonObject> => this.request(method, given);
    return runTask(send, params, { server: this.name, signal, progress, cancel });
  }

  #send(method: string, params: JsonObject, context: ToolContext): Promise<JsonObject> {
    const { signal, callId, resources } = context;
    const relay = resources.get(relayResource);
    return this.#connection.request(method, params, {
      signal,
      onProgress: (message) => this.#tellProgress(message, context),
      client: isRelay(relay) ? relay.client?.(callId) : undefined,
    });
  }

  #tellProgress(message: string, context: ToolContext): void {
    // Late progress of a call that has ended is dropped.
    if (!context.signal.aborted) context.progress(message.slice(0, 1_000));
  }
}

function describeListed(listed: ReadonlyMap<string, McpDefinition>): string {
  return JSON.stringify([...listed.values()].map(({ name, digest }) => [name, digest]));
}

type CallSender = (params: JsonObject, context: ToolContext) => Promise<JsonObject>;
