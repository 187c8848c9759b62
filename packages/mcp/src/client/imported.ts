import type { JsonObject, Tool } from '@holdfast/core';
import type { Implementation } from '@modelcontextprotocol/client';
import type { RequestOptions, ServerIdentity } from './connection.ts';
import type { McpDefinition } from './definition.ts';
import type { Elicit, QuestionKind } from './elicit.ts';
import type { McpListener } from './events.ts';
import type { Trust } from './imported-tool.ts';
import type { McpPins, McpSeen } from './pins.ts';
import type { ServerPlace } from './transport.ts';

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
  /** The kinds of questions that the server learns it can ask, where there is an `elicit`. Default: both. */
  readonly asks?: readonly QuestionKind[];
  readonly onEvent?: McpListener;
  /**
   * The `traceparent` that a call's request has, such as that of `traceSession` of `@holdfast/otel`. A call that `serveMcp` serves has its
   * client's. Default: none.
   */
  readonly traceparent?: (callId: string) => string | undefined;
  /** The definitions that a person has seen; others are withheld. Default: none is. */
  readonly pins?: McpPins;
  /** The name and version of this program, for the server. */
  readonly client?: Implementation;
}

/** Why a tool of a server is not among the tools. */
export interface LeftOut {
  readonly name: string;
  readonly code: string;
  readonly reason?: string | undefined;
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
  /** True for a call of a tool that is withheld, or of a tool that reads a resource or prompt which differs from the pins. */
  withholds(tool: string, input: JsonObject): boolean;
  /** The pins of the server as it is now. */
  readonly pins: McpPins;
  /** The server's words behind the pins. Resources and prompts are missing if it does not list them. */
  readonly seen: McpSeen;
  /**
   * Asks the server for its tools again. Calls of a tool whose definition has changed since fail as `mcp.changed`. `pins`: hold from now on,
   * after a person has accepted a change.
   */
  refresh(pins?: McpPins): Promise<void>;
  /** Calls `listener` after `tools` has changed. */
  onChange(listener: () => void): () => void;
  /** Sends a request of the protocol as it is, past policies and log. For listing only; what differs from the pins is left out. @throws HoldfastError `mcp.*`. */
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  /** Ends the connection, and the server's process where it has one. */
  close(): Promise<void>;
}
