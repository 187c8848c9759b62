import { HoldfastError, type JsonObject } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import {
  Client,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type ServerCapabilities,
  type Transport,
} from '@modelcontextprotocol/client';
import { describeRefusal, type Secrets } from './authorization.ts';
import { answerElicitation, type Elicit, type QuestionKind } from './elicit.ts';
import type { McpEvent, McpListener } from './events.ts';
import { type CallClient, findAsker } from './relay.ts';
import { anyObject, longestTimeoutMs } from './sdk.ts';

export interface ConnectionOptions {
  /** Our name for the server. */
  readonly name: string;
  /** Makes a new transport for each connection. */
  readonly openTransport: () => Transport;
  readonly client: Implementation;
  readonly secrets: Secrets;
  readonly era: 'auto' | 'legacy';
  readonly elicit: Elicit | 'client' | undefined;
  readonly asks: readonly QuestionKind[];
  readonly tell: McpListener;
  /** The server says that one of its lists has changed. */
  readonly onListChanged: () => void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Whose call the request is. */
  readonly client?: CallClient | undefined;
}

/** A server in its own words. */
export interface ServerIdentity {
  /** With its title and icons, if it has any. */
  readonly info: Implementation;
  readonly instructions?: string;
  readonly capabilities: ServerCapabilities;
}

interface Link {
  readonly client: Client;
  /** Why the connection can no longer be used. */
  lost: boolean;
}

/** A connection to a server: opened at the first request, and again after it was lost. */
export class Connection {
  readonly #options: ConnectionOptions;
  #link: Promise<Link> | undefined;
  #closed = false;
  /** Whose requests the server has to answer. */
  readonly #clients = new Set<CallClient>();
  /** How often it was opened. */
  opened = 0;
  /** Of the connection that was opened last: `legacy` for the revision of 2025. */
  era: 'legacy' | 'modern' | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** @throws HoldfastError `mcp.unreachable`. */
  async open(): Promise<ServerIdentity> {
    const { client } = await this.#connect();
    const instructions = client.getInstructions();
    return {
      info: client.getServerVersion() ?? { name: this.#options.name, version: '' },
      ...(instructions === undefined ? {} : { instructions }),
      capabilities: client.getServerCapabilities() ?? {},
    };
  }

  /**
   * The result as the server sent it.
   *
   * @throws HoldfastError `mcp.unreachable`, `mcp.error` (the server's own word), `tool.process.lost` (the connection ended
   * before the answer).
   */
  async request(
    method: string,
    params: JsonObject,
    { signal, onProgress, client }: RequestOptions = {},
  ): Promise<JsonObject> {
    const link = await this.#connect();
    const { name } = this.#options;
    if (client !== undefined) this.#clients.add(client);
    try {
      const result: unknown = await link.client.request({ method, params }, anyObject, {
        // Our own deadline ends the call.
        timeout: longestTimeoutMs,
        ...(signal === undefined ? {} : { signal }),
        ...(onProgress === undefined
          ? {}
          : {
              onprogress: ({ progress, total, message }) =>
                onProgress(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`)),
            }),
      });
      return result as JsonObject;
    } catch (cause) {
      if (cause instanceof ProtocolError) {
        throw this.#error('mcp.error', `The MCP server \`${name}\` answered`, cause, { rpcCode: cause.code });
      }
      // In the revision of 2026 the server asks by its answer.
      if (cause instanceof SdkError && cause.code === SdkErrorCode.CapabilityNotSupported) {
        const { method: asked } = (cause.data ?? {}) as { readonly method?: unknown };
        this.#tell({ type: 'request-refused', server: name, method: String(asked) });
      }
      if (link.lost || (cause instanceof SdkError && lostCodes.has(cause.code))) {
        const message = `The MCP server \`${name}\` ended, or the connection to it, before it answered.`;
        throw new HoldfastError('tool.process.lost', message, { data: { server: name }, cause });
      }
      if (describeRefusal(cause) !== undefined) throw this.#unreachable(cause);
      throw this.#error('tool.process.lost', `The MCP server \`${name}\` gave no usable answer`, cause, {
        reason: 'unreadable',
      });
    } finally {
      if (client !== undefined) this.#clients.delete(client);
    }
  }

  /** Nothing has been done: there was no server, or it did not let the request in. */
  #unreachable(cause: unknown): HoldfastError {
    const { name } = this.#options;
    const refusal = describeRefusal(cause);
    if (refusal === undefined) {
      return this.#error('mcp.unreachable', `Cannot connect to the MCP server \`${name}\``, cause);
    }
    const message = this.#options.secrets.hide(`The MCP server \`${name}\` needs authorization, and ${refusal}.`);
    return new HoldfastError('mcp.unreachable', message, { data: { server: name, reason: 'unauthorized' } });
  }

  /** An error without the secrets that the server was sent. */
  #error(code: string, what: string, cause: unknown, data: JsonObject = {}): HoldfastError {
    const { name, secrets } = this.#options;
    const why = describeThrown(cause);
    return new HoldfastError(code, `${what}: ${secrets.hide(why)}`, {
      data: { server: name, ...data },
      ...(secrets.isIn(why) ? {} : { cause }),
    });
  }

  #tell(event: McpEvent): void {
    this.#options.tell(event);
    for (const client of this.#clients) client.note(event);
  }

  /** Ends the connection, and the server's process where it has one. */
  async close(): Promise<void> {
    this.#closed = true;
    const link = this.#link;
    this.#link = undefined;
    // A connection that was never made has nothing to close; its caller has the error.
    const opened = await link?.catch(() => undefined);
    await opened?.client.close();
  }

  async #connect(): Promise<Link> {
    const last = this.#link;
    // The call that opened it has the error; this one tries again.
    const known = await last?.catch(() => undefined);
    if (this.#closed) {
      throw new HoldfastError(
        'mcp.unreachable',
        `The connection to the MCP server \`${this.#options.name}\` was closed.`,
        { data: { reason: 'closed' } },
      );
    }
    if (known !== undefined && !known.lost) return known;
    // Of calls that find it lost together, one opens the next: a second server would never be closed.
    if (this.#link === undefined || this.#link === last) this.#link = this.#openLink();
    return this.#link;
  }

  async #openLink(): Promise<Link> {
    const { name, openTransport, client: info, era, elicit, asks, tell, onListChanged } = this.#options;
    const client = new Client(info, {
      versionNegotiation: { mode: era },
      capabilities: elicit === undefined ? {} : { elicitation: Object.fromEntries(asks.map((kind) => [kind, {}])) },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged },
        resources: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged },
        prompts: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged },
      },
    });
    const link: Link = { client, lost: false };
    client.fallbackRequestHandler = async ({ method }) => {
      this.#tell({ type: 'request-refused', server: name, method });
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'This client does not offer that.');
    };
    if (elicit !== undefined) {
      client.setRequestHandler('elicitation/create', ({ params }) => {
        const asked = elicit === 'client' ? findAsker(this.#clients) : elicit;
        return answerElicitation(params, { name, elicit: asked, tell: (event) => this.#tell(event) });
      });
    }
    const transport = openTransport();
    try {
      await client.connect(transport);
    } catch (cause) {
      // The error below says why.
      await transport.close().catch(() => undefined);
      throw this.#unreachable(cause);
    }
    this.opened += 1;
    this.era = client.getProtocolEra();
    client.onclose = () => {
      link.lost = true;
      if (!this.#closed) tell({ type: 'connection-lost', server: name });
    };
    return link;
  }
}

const lostCodes: ReadonlySet<string> = new Set([
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
]);
