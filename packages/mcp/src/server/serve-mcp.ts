import type { Readable, Writable } from 'node:stream';
import { type Clock, HoldfastError, type JsonObject } from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import {
  createMcpHandler,
  type Implementation,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  type ServerCapabilities,
  type Transport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { McpTools } from '../client/imported.ts';
import { toClient } from './client-call.ts';
import { declareTool, findServed, isMcpTools, listOffered, type ServedTools } from './declare-tools.ts';
import { anyClient, type FirstClient, hearFirst } from './first-client.ts';
import { type HttpAccess, toPrincipal } from './http-access.ts';
import { Refusals } from './refusals.ts';
import { relayContent } from './relay-content.ts';
import { RelayServer } from './relay-server.ts';
import { CallServer, type ServedCallOptions } from './serve-call.ts';
import type { McpSessions } from './sessions.ts';

export interface ServeMcpOptions extends ServedCallOptions {
  readonly sessions: McpSessions;
  /** The words of the principal's user, for policies, where the host has heard them. Asked at each call; no client can set it. Default: none. */
  readonly request?: (principal: string) => string | undefined;
  /** The name and version for clients. Default: those of a relayed server. */
  readonly info?: Implementation;
  readonly instructions?: string;
  /** How long a call waits for a person where its client has nobody to ask, in milliseconds. Default 0. */
  readonly waitMs?: number;
  /** Tools on one page of a list. Default 250. */
  readonly pageSize?: number;
  readonly clock?: Clock;
}

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

export interface Connected {
  /** Settles when the client has gone. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface McpServing {
  /** Serves one client over `streams` (default: stdin and stdout) or a transport. */
  stdio(over?: Streams | Transport): Connected;
  /** Answers one HTTP request. `access` says which requests are let in. */
  fetch(request: Request, access: HttpAccess): Promise<Response>;
  /**
   * Asks `source` again, after a person has accepted a server that was held back, and tells clients that the tools have changed. They get
   * its resources and prompts when they connect again. Does nothing before the first client. @throws what `source` does.
   */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

const rules = {
  sessions: 'object!',
  request: 'function',
  info: 'object',
  instructions: 'text',
  waitMs: 'number',
  pageSize: 'number',
  clock: 'object',
  policies: 'list',
  grants: 'list',
  resources: 'object',
  facts: 'object',
  approvalTimeoutMs: 'any',
  timeoutMs: 'any',
  maxResultChars: 'any',
  policyTimeoutMs: 'any',
} as const;

/**
 * Serves tools to MCP clients of both revisions, each call on the path of every other call. A call that waits for approval asks the
 * client's user, and goes on from its log, also in another process. `source` is called when the first client arrives, with
 * what its user can be asked: of a server behind it, `mcpTools` then declares no more.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function serveMcp(
  source: ServedTools | ((client: FirstClient) => Promise<ServedTools>),
  options: ServeMcpOptions,
): McpServing {
  checkOptions('serveMcp', options, rules);
  const { pageSize = 250 } = options;
  if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
    throw new HoldfastError('options.invalid', `\`pageSize\` must be a positive integer, got ${pageSize}.`, {
      data: { reason: 'page_size' },
    });
  }
  return new Serving(source, { ...options, pageSize });
}

interface Served {
  readonly tools: ServedTools;
  readonly calls: CallServer;
}

class Serving implements McpServing {
  readonly #open: (client: FirstClient) => Promise<ServedTools>;
  readonly #options: ServeMcpOptions & { readonly pageSize: number };
  /** Of clients on stdio, which hear of changes. */
  readonly #servers = new Set<RelayServer>();
  readonly #refusals = new Refusals();
  #served: Promise<Served> | undefined;
  #client: FirstClient = anyClient;
  #handler: McpHttpHandler | undefined;
  #stopListening: (() => void) | undefined;

  constructor(
    source: ServedTools | ((client: FirstClient) => Promise<ServedTools>),
    options: ServeMcpOptions & { readonly pageSize: number },
  ) {
    this.#open = typeof source === 'function' ? source : async () => source;
    this.#options = options;
  }

  stdio(over: Streams | Transport = { input: process.stdin, output: process.stdout }): Connected {
    const transport = 'input' in over ? new StdioServerTransport(over.input, over.output) : over;
    const closed = Promise.withResolvers<void>();
    let client = anyClient;
    hearFirst(transport, (first) => {
      client = first;
    });
    const handle = serveStdio(
      async () => {
        const server = await this.#create(client);
        this.#servers.add(server);
        server.onclose = () => void this.#servers.delete(server);
        return server;
      },
      { transport },
    );
    const onclose = transport.onclose?.bind(transport);
    transport.onclose = () => {
      onclose?.();
      closed.resolve();
    };
    return { closed: closed.promise, close: () => handle.close() };
  }

  async fetch(request: Request, access: HttpAccess): Promise<Response> {
    const principal = toPrincipal(request, access);
    if (principal instanceof Response) {
      this.#refusals.countStranger();
      return principal;
    }
    this.#handler ??= createMcpHandler(() => this.#create(anyClient));
    return this.#handler.fetch(request, { authInfo: { token: '', clientId: principal, scopes: [] } });
  }

  async reopen(): Promise<void> {
    if (this.#served === undefined) return;
    const { tools } = await this.#keep(this.#start(this.#client));
    this.#tellChange(isMcpTools(tools) ? tools : undefined);
  }

  async close(): Promise<void> {
    this.#stopListening?.();
    await this.#handler?.close();
    await Promise.all([...this.#servers].map((server) => server.close()));
  }

  #serve(client: FirstClient): Promise<Served> {
    return this.#served ?? this.#keep(this.#start(client));
  }

  #keep(serving: Promise<Served>): Promise<Served> {
    this.#served = serving;
    // This client gets the error; the next one tries again.
    serving.catch(() => {
      if (this.#served === serving) this.#served = undefined;
    });
    return serving;
  }

  async #start(client: FirstClient): Promise<Served> {
    const { pageSize: _pageSize, info: _info, instructions: _instructions, waitMs = 0, ...options } = this.#options;
    this.#client = client;
    const tools = await this.#open(client);
    this.#stopListening?.();
    this.#stopListening = tools.onChange?.(() => this.#tellChange(isMcpTools(tools) ? tools : undefined));
    return {
      tools,
      calls: new CallServer(tools, { ...options, waitMs, clock: options.clock, refusals: this.#refusals }),
    };
  }

  #tellChange(relayed: McpTools | undefined): void {
    const { resources, prompts } = toCapabilities(relayed);
    const notify = this.#handler?.notify;
    notify?.toolsChanged();
    if (resources?.listChanged === true) notify?.resourcesChanged();
    if (prompts?.listChanged === true) notify?.promptsChanged();
    for (const server of this.#servers) {
      // A client that has gone, or was only a probe, need not hear it.
      const drop = (): void => undefined;
      server.sendToolListChanged().catch(drop);
      if (resources?.listChanged === true) server.sendResourceListChanged().catch(drop);
      if (prompts?.listChanged === true) server.sendPromptListChanged().catch(drop);
    }
  }

  async #create(client: FirstClient): Promise<RelayServer> {
    const { tools, calls } = await this.#serve(client);
    const relayed = isMcpTools(tools) ? tools : undefined;
    const { info = relayed?.server.info } = this.#options;
    const { instructions = tools.held?.message ?? relayed?.server.instructions } = this.#options;
    const server = new RelayServer(info ?? { name: 'holdfast', version: '0.0.0' }, {
      capabilities: toCapabilities(relayed),
      ...(instructions === undefined ? {} : { instructions }),
      // The answer of a person takes as long as it takes.
      inputRequired: { roundTimeoutMs: this.#options.approvalTimeoutMs ?? 3_600_000 },
    });
    server.setRequestHandler('tools/list', async ({ params }) => {
      const now = await this.#serve(client);
      return this.#listTools(now.tools, params?.cursor) as never;
    });
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const now = await this.#serve(client);
      return now.calls.call({
        ...toClient(server, context),
        method: 'tools/call',
        tool: findServed(now.tools, params.name),
        asked: params.name,
        input: (params.arguments ?? {}) as JsonObject,
      });
    });
    if (relayed !== undefined) relayContent(server, relayed, calls);
    return server;
  }

  #listTools(served: ServedTools, cursor: string | undefined): { tools: JsonObject[]; nextCursor?: string } {
    const { pageSize } = this.#options;
    const { definitions } = served;
    const offered = listOffered(served);
    const from = cursor === undefined ? 0 : Number(cursor);
    if (!Number.isSafeInteger(from) || from < 0 || from > offered.length) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor');
    }
    const page = offered.slice(from, from + pageSize);
    const next = from + pageSize;
    return {
      tools: page.map((tool) => declareTool(tool, definitions?.get(tool.name))),
      ...(next < offered.length ? { nextCursor: String(next) } : {}),
    };
  }
}

function toCapabilities(relayed: McpTools | undefined): ServerCapabilities {
  const theirs = relayed?.server.capabilities;
  return {
    tools: { listChanged: true },
    ...(theirs?.resources === undefined ? {} : { resources: toListChanged(theirs.resources) }),
    ...(theirs?.prompts === undefined ? {} : { prompts: toListChanged(theirs.prompts) }),
  };
}

function toListChanged({ listChanged }: { readonly listChanged?: boolean | undefined }): { listChanged?: true } {
  return listChanged === true ? { listChanged } : {};
}
