/** Why a request failed; `code` is the program's, or `offline`. */
export class RequestError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

// In memory alone: gone with the tab, and in no history.
const secrets = takeSecrets();

export const hasSecret: boolean = secrets.read !== '';

function takeSecrets(): { readonly read: string; readonly answer: string } {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = { read: given.get('read') ?? '', answer: given.get('answer') ?? '' };
  if (found.read !== '') history.replaceState(null, '', '/#/');
  return found;
}

/** Reads; never answers. */
export async function read<Answer>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await send(`/api/${path}?${new URLSearchParams(query)}`, {});
  return (await parse(response)) as Answer;
}

export async function answer(body: Readonly<Record<string, unknown>>): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-holdfast-answer': secrets.answer };
  await parse(await send('/api/answer', { method: 'POST', headers, body: JSON.stringify(body) }));
}

interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function send(url: string, init: Request): Promise<Response> {
  try {
    const headers = { ...init.headers, authorization: `Bearer ${secrets.read}` };
    return await fetch(url, { ...init, headers, cache: 'no-store', credentials: 'omit', redirect: 'error' });
  } catch {
    // The browser tells no reason: the program has ended.
    throw new RequestError('offline', 'The studio has stopped. Start `holdfast studio` again and open its new link.');
  }
}

async function parse(response: Response): Promise<unknown> {
  if (response.status === 403)
    throw new RequestError('refused', 'This link is not valid any more. Open the newest one.');
  const json: unknown = await response.json();
  if (response.ok) return json;
  const { code, message } = json as { readonly code: string; readonly message: string };
  throw new RequestError(code, message);
}
