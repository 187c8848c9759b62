import type { CallFacts, Describer, Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { readAddress } from '../programs/address.ts';
import { FactsBuilder } from '../script/facts-builder.ts';
import { textsOf, toPath } from './files.ts';
import { unclearFacts } from './union.ts';

/** The arguments of a tool that makes requests. */
export interface FetchUse {
  readonly url: string;
  readonly method?: string;
  readonly body?: string;
}

export interface FetchFactsOptions {
  /** Keyed by tool name. Default: `url`, `method` and `body` of common tools. */
  readonly tools?: Readonly<Record<string, FetchUse>>;
}

// A longer address may carry data away.
const maxPlainUrl = 2_048;
// Programs disagree on other addresses: with a user name, spaces, `\\` or a `%` in the host.
const plainAddress = /^[a-z][a-z\d+.-]*:\/\/[^/?#@%\\\p{Cc}\p{Z}]+(?:[/?#][^\\\p{Cc}\p{Z}]*)?$/iu;

const usual: FetchUse = { url: 'url', method: 'method', body: 'body' };
const usualTools = ['fetch', 'WebFetch', 'web_fetch', 'webfetch', 'http_request', 'fetch_url', 'browser_navigate'];
const searches = ['WebSearch', 'web_search', 'websearch', 'google_web_search'];

/** Facts of tools that make requests or search the web. */
export function fetchFacts({ tools }: FetchFactsOptions = {}): Describer {
  const uses = new Map<string, FetchUse>(
    tools === undefined ? usualTools.map((name) => [name, usual]) : Object.entries(tools),
  );
  return {
    name: 'requests',
    describe({ tool, input }, view) {
      const facts = new FactsBuilder(view);
      if (tools === undefined && searches.includes(tool)) {
        facts.host({ scheme: 'https', host: tool.toLowerCase(), sends: true });
        return facts.build();
      }
      const use = uses.get(tool);
      if (use === undefined) return undefined;
      const urls = textsOf(input, use.url) ?? [];
      const method = use.method === undefined ? undefined : read(input, use.method);
      const body = use.body === undefined ? undefined : read(input, use.body);
      const name = typeof method === 'string' ? method.toUpperCase() : undefined;
      if (urls.length === 0 || (method !== undefined && name === undefined)) return notKnown(tool);
      for (const url of urls) {
        if (/^file:\/\//i.test(url)) {
          facts.touch('reads', toPath(url, view));
          continue;
        }
        const address = plainAddress.test(url) && url.isWellFormed() ? readAddress(url) : undefined;
        if (address === undefined) return notKnown(tool);
        const sends =
          url.length > maxPlainUrl ||
          (body !== undefined && body !== null && body !== '') ||
          (name !== undefined && name !== 'GET' && name !== 'HEAD');
        facts.host({ ...address, ...(name === undefined ? {} : { method: name }), sends });
      }
      return facts.build();
    },
  };
}

function notKnown(tool: string): CallFacts {
  return unclearFacts({ kind: 'words', reason: `cannot tell which address \`${tool}\` requests` });
}

function read(input: Json, key: string): unknown {
  return isPlainObject(input) && Object.hasOwn(input, key) ? input[key] : undefined;
}
