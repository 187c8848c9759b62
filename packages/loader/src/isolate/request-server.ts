import { type FileEntry, type Filesystem, HoldfastError, type Json, type ToolContext } from '@holdfast/core';
import { type HostMessage, toThrownMessage } from '../child/call-messages.ts';
import type { Request } from '../child/child-messages.ts';
import type { Reply } from '../child/host-requests.ts';

// Of one call.
const maxWalks = 64;
const pageLength = 1_000;

/** Does in the host what a tool's process asks for, with the context of its call: whatever comes of it is staged there. */
export class RequestServer {
  readonly #context: ToolContext;
  readonly #walks = new Map<number, AsyncIterator<FileEntry>>();

  constructor(context: ToolContext) {
    this.#context = context;
  }

  /** Rejects with what the context refuses it with, and with HoldfastError `tool.request.invalid`. */
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
        // Text that cannot be bytes, and null for what is no content, are for the filesystem to refuse.
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

  /** The next entries; none at the end. */
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
    // Made of JSON.
    return page as unknown as Json;
  }
}

/** Serves a request and says what to tell the tool's process of it. Never rejects. */
export async function answerRequest(
  server: RequestServer,
  request: Request,
  body: Uint8Array | undefined,
): Promise<{ readonly message: HostMessage; readonly body: Uint8Array | undefined }> {
  try {
    const reply = await server.serve(request, body);
    return { message: { type: 'reply', request: request.request, value: reply.value }, body: reply.body };
  } catch (thrown) {
    // A stack of the host is nothing for a tool to see.
    const { stack: _stack, ...error } = toThrownMessage(thrown);
    return { message: { type: 'refusal', request: request.request, error }, body: undefined };
  }
}

function invalid(method: string): HoldfastError {
  return new HoldfastError('tool.request.invalid', `A tool cannot ask for \`${method.slice(0, 100)}\` like that.`);
}

/** Outcomes and what is known of files are made of JSON; an undefined code is left out on the way. */
function toReply(value: object | Json): Reply {
  return { value: value as unknown as Json, body: undefined };
}
