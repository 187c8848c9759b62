import { type JSONRPCRequest, type Result, Server, type ServerContext } from '@modelcontextprotocol/server';

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** A server that can hand on results of another one untouched: the SDK checks results, and drops the keys that it does not know. */
export class RelayServer extends Server {
  // Of all servers: a call may end in a later request than the one that began it.
  static readonly #relayed = new WeakSet<object>();

  /** Marks a result that came from another server. */
  relay<Value extends object>(result: Value): Value {
    RelayServer.#relayed.add(result);
    return result;
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    return async (request, context) => {
      let given: Result | undefined;
      const wrapped = super._wrapHandler(method, async (...call) => {
        given = await handler(...call);
        return given;
      });
      const checked = await wrapped(request, context);
      return given !== undefined && RelayServer.#relayed.has(given) ? given : checked;
    };
  }
}
