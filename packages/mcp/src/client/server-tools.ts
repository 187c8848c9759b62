import type { JsonObject, Tool, ToolContext } from '@holdfast/core';
import { toProblem } from '@holdfast/core/internal';
import type { Problem } from '@holdfast/core/types';
import { Secrets } from './authorization.ts';
import { Connection, type RequestOptions, type ServerIdentity } from './connection.ts';
import { importContent } from './content-tools.ts';
import type { McpDefinition } from './definition.ts';
import type { LeftOut, McpTools, McpToolsOptions } from './imported.ts';
import { changedError, importTool } from './imported-tool.ts';
import { contentKinds, type Listed, listAll, listContent } from './lists.ts';
import { findCollisions, toToolName } from './names.ts';
import {
  hasUnseenInstructions,
  isUnseen,
  type McpPins,
  type McpSeen,
  toHolding,
  toPins,
  toSeen,
  UnseenContent,
} from './pins.ts';
import { isRelay, relayResource } from './relay.ts';
import { needsTask, runTask } from './task.ts';
import { readTraceContext } from './trace-context.ts';
import { toTransportMaker } from './transport.ts';

const nothing: Listed = { tools: [], resources: [], templates: [], prompts: [] };

/** Reasons of `mcp.tool.invalid`. */
type ToolReason = 'name' | 'collision';

/** A server whose tools are imported. */
export class ServerTools implements McpTools {
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
  seen: McpSeen = toSeen(undefined, nothing);
  #unseen = new UnseenContent(nothing, undefined);
  /** The pins that a person has accepted, of the server that they have seen. */
  #accepted: McpPins | undefined;
  /** The pins that hold for the server that was found last. */
  #pins: McpPins | undefined;

  constructor(options: McpToolsOptions) {
    this.name = options.name;
    this.#options = options;
    this.#accepted = options.pins;
    const secrets = new Secrets();
    this.#connection = new Connection({
      secrets,
      name: options.name,
      openTransport: toTransportMaker(options, secrets),
      client: options.client ?? { name: 'holdfast', version: '0.0.0' },
      era: options.era ?? 'auto',
      // A server that can ask nothing is told so.
      elicit: options.asks?.length === 0 ? undefined : options.elicit,
      asks: options.asks ?? ['form', 'url'],
      tell: (event) => options.onEvent?.(event),
      onListChanged: () => {
        // The next call reads the list again, and fails with the error if it cannot be read.
        this.refresh().catch(() => {
          this.#isStale = true;
        });
      },
    });
  }

  get pins(): McpPins {
    return toPins(this.seen);
  }

  get server(): ServerIdentity {
    return this.#server ?? { info: { name: this.name, version: '' }, capabilities: {} };
  }

  async refresh(pins?: McpPins): Promise<void> {
    this.#accepted = pins ?? this.#accepted;
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

  async request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    const { page, isNews } = this.#unseen.filter(method, await this.#connection.request(method, params, options));
    // The list has changed, and the server did not say so.
    if (isNews) this.#isStale = true;
    return page;
  }

  withholds(tool: string, { uri, name }: JsonObject): boolean {
    if (this.withheld.some((one) => one.name === tool)) return true;
    if (tool === `${this.name}_read_resource`) return this.#unseen.has('resources', String(uri));
    return tool === `${this.name}_get_prompt` && this.#unseen.has('prompts', String(name));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #list(): Promise<void> {
    const found = await this.#connection.open();
    const before = JSON.stringify([this.pins, this.#pins]);
    const { instructions, ...unsaid } = found;
    this.#pins = toHolding(this.#accepted, found.info);
    const isUnsaid = hasUnseenInstructions(instructions, this.#pins);
    this.#server = isUnsaid ? unsaid : found;
    const { opened } = this.#connection;
    const { capabilities } = this.#server;
    const listed = capabilities.tools === undefined ? [] : await listAll(this.#connection, this.name, 'tools');
    const content = await listContent(this.#connection, this.name, capabilities);
    const first = this.#listedOn === 0;
    this.#listedOn = opened;
    this.#isStale = false;
    this.#listed = new Map(listed.map((definition) => [definition.name, definition]));
    this.seen = toSeen(instructions, { ...nothing, ...content, tools: listed });
    this.#unseen = new UnseenContent(content, this.#pins);
    if (!first && before === JSON.stringify([this.pins, this.#pins])) return;
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
      const refuse = (problem: Problem): void => void leftOut.push({ name, ...problem });
      const invalid = (reason: ToolReason, message: string): void =>
        refuse({ code: 'mcp.tool.invalid', reason, message });
      if (ours === undefined) invalid('name', 'The protocol allows no such name.');
      else if (colliding.has(name) || tools.has(ours)) {
        invalid('collision', `Another tool would be \`${ours}\` as well.`);
      } else {
        try {
          const isWithheld = isUnseen('tools', definition, this.#pins);
          const tool = importTool(ours, definition, this.#callTarget(name, isWithheld), this.#options);
          definitions.set(ours, definition);
          if (isWithheld) {
            withheld.push(tool);
            refuse({ code: 'mcp.changed', message: 'It is not the tool that a person has seen.' });
          } else tools.set(ours, tool);
        } catch (thrown) {
          refuse(toProblem(thrown, { code: 'mcp.tool.invalid' }));
        }
      }
    }
    for (const kind of contentKinds) {
      for (const name of this.#unseen.list(kind)) {
        leftOut.push({ name, code: 'mcp.changed', message: `A person has not seen it like this: one of the ${kind}.` });
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
      ready: async (method, { uri, name }) => {
        await this.#ready();
        const changed =
          (method === 'resources/read' && this.#unseen.has('resources', String(uri))) ||
          (method === 'prompts/get' && this.#unseen.has('prompts', String(name)));
        if (changed) throw changedError(this.name, String(uri ?? name));
      },
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
    const isServed = isRelay(relay);
    const trace = isServed ? relay.trace : readTraceContext({ traceparent: this.#options.traceparent?.(callId) });
    return this.request(method, trace === undefined ? params : { ...params, _meta: { ...trace } }, {
      signal,
      onProgress: (message) => this.#tellProgress(message, context),
      client: isServed ? relay.client?.(callId) : undefined,
    });
  }

  #tellProgress(message: string, context: ToolContext): void {
    // Late progress of a call that has ended is dropped.
    if (!context.signal.aborted) context.progress(message.slice(0, 1_000));
  }
}

type CallSender = (params: JsonObject, context: ToolContext) => Promise<JsonObject>;
