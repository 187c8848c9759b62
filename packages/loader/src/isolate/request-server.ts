import { type Filesystem, HoldfastError, type Json, type ToolContext } from '@holdfast/core';
import type { FileEntry } from '@holdfast/core/types';
import { type HostMessage, toThrownMessage } from '../child/call-messages.ts';
import type { Request } from '../child/child-messages.ts';
import type { Reply } from '../child/host-requests.ts';

// Per call.
const maxWalks = 64;
const pageLength = 1_000;

/** Serves the requests of a tool's process in the host, with the context of its call, where all changes are staged. */
export class RequestServer {
  readonly #context: ToolContext;
  readonly #walks = new Map<number, AsyncIterator<FileEntry>>();

  constructor(context: ToolContext) {
    this.#context = context;
  }

  /** Rejects with the errors of the context, and with HoldfastError `tool.request.invalid`. */
  async serve(request: Request, body: Uint8Array | undefined): Promise<Reply> {
    const { method, parameters } = request;
    const [first, second] = parameters;
    if (method === 'walkOn') return toReply(await this.#walkOn(first));
    if (typeof first !== 'string') throw invalid(method);
    if (method === 'call') return toReply(await this.#context.call(first, second));
    const { filesystem } = this.#context;
    if (filesystem === undefined) throw invalid('filesystem');
    switch (method) {
      case 'resolve':
      case 'stat':
      case 'readText':
      case 'list':
      case 'remove':
      case 'makeDirectory':
        return toReply((await filesystem[method](first)) ?? null);
      case 'read':
        return { value: null, body: await filesystem.read(first, { peek: second === true }) };
      case 'walk':
        return toReply(this.#walk(filesystem, first, request.request));
      case 'write':
        // The filesystem rejects invalid content itself.
        await filesystem.write(first, second === undefined ? (body ?? new Uint8Array()) : (second as string));
        return toReply(null);
      default:
        throw invalid(method);
    }
  }

  #walk(filesystem: Filesystem, path: string, id: number): Json {
    if (this.#walks.size >= maxWalks) throw invalid('walk');
    this.#walks.set(id, filesystem.walk(path)[Symbol.asyncIterator]());
    return id;
  }

  /** The next entries; empty at the end. */
  async #walkOn(id: Json | undefined): Promise<Json> {
    const walk = typeof id === 'number' ? this.#walks.get(id) : undefined;
    if (walk === undefined || typeof id !== 'number') throw invalid('walkOn');
    const page: FileEntry[] = [];
    while (page.length < pageLength) {
      const { done, value } = await walk.next();
      if (done === true) {
        if (page.length === 0) this.#walks.delete(id);
        break;
      }
      page.push(value);
    }
    // Built from JSON.
    return page as unknown as Json;
  }
}

/** Serves a request and returns the message for the tool's process. Never rejects. */
export async function answerRequest(
  server: RequestServer,
  request: Request,
  body: Uint8Array | undefined,
): Promise<{ readonly message: HostMessage; readonly body: Uint8Array | undefined }> {
  try {
    const reply = await server.serve(request, body);
    return { message: { type: 'reply', request: request.request, value: reply.value }, body: reply.body };
  } catch (thrown) {
    // The host's stack is not for tools.
    const { stack: _stack, ...error } = toThrownMessage(thrown);
    return { message: { type: 'refusal', request: request.request, error }, body: undefined };
  }
}

function invalid(method: string): HoldfastError {
  return new HoldfastError('tool.request.invalid', `Invalid request of a tool: \`${method.slice(0, 100)}\`.`);
}

/** Outcomes and file data are JSON; an undefined code is dropped in transit. */
function toReply(value: object | Json): Reply {
  return { value: value as unknown as Json, body: undefined };
}
