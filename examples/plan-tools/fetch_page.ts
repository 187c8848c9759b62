import type { ToolContext } from '@holdfast/core';

export const METADATA = {
  name: 'fetch_page',
  function: 'fetchPage',
  description: 'Fetch the text of a web page of this machine by its URL.',
  dangerous: false,
  // A GET changes nothing and may be repeated.
  effects: 'none',
  timeoutMs: 20_000,
  parameters: {
    type: 'object',
    properties: {
      url: {
        type: 'string',
        format: 'uri',
        maxLength: 2000,
        description: 'URL of the page, such as http://127.0.0.1:8080/a.txt',
      },
    },
    required: ['url'],
  },
  returns: {
    type: 'object',
    properties: { url: { type: 'string' }, status: { type: 'integer' }, text: { type: 'string' } },
    required: ['url', 'status', 'text'],
    additionalProperties: false,
  },
} as const;

const maxBytes = 1_000_000;
const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

export async function fetchPage(
  { url }: { readonly url: string },
  { signal }: ToolContext,
): Promise<{ readonly url: string; readonly status: number; readonly text: string }> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' || !loopback.has(hostname)) {
    throw new Error(`\`${url}\` is not a page of this machine: use an address such as http://127.0.0.1:8080/a.txt.`);
  }
  // A redirect could lead to another machine.
  const response = await fetch(url, { signal, redirect: 'error' });
  if (!response.ok) throw new Error(`\`${url}\` answered with status ${response.status}.`);
  return { url, status: response.status, text: await readBounded(response, url) };
}

/** An endless page must not fill the memory. */
async function readBounded({ body }: Response, url: string): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`\`${url}\` has more than ${maxBytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
