import { type Describer, isPlainObject, type Json } from '@holdfast/core';
import { readAddress } from '../programs/address.ts';
import { FactsBuilder } from '../script/facts-builder.ts';
import { toPath } from './files.ts';
import { unclearFacts } from './union.ts';

/** Where a tool that makes requests holds what it asks for. */
export interface FetchUse {
  readonly url: string;
  readonly method?: string;
  readonly body?: string;
}

export interface FetchFactsOptions {
  /** By the name of the tool. Default: `url`, `method` and `body` of the usual tools. */
  readonly tools?: Readonly<Record<string, FetchUse>>;
}

const usual: FetchUse = { url: 'url', method: 'method', body: 'body' };
const usualTools = ['fetch', 'WebFetch', 'web_fetch', 'webfetch', 'http_request', 'fetch_url', 'browser_navigate'];
const searches = ['WebSearch', 'web_search', 'websearch', 'google_web_search'];

/** Facts of tools that make requests, and of those that search the web. */
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
      const url = read(input, use.url);
      const address = typeof url === 'string' ? readAddress(url.trim()) : undefined;
      if (typeof url !== 'string' || address === undefined) {
        return unclearFacts({ kind: 'words', reason: `which address \`${tool}\` asks for is not known` });
      }
      if (address.scheme === 'file') {
        facts.touch('reads', toPath(url.trim(), view));
        return facts.build();
      }
      const method = use.method === undefined ? undefined : read(input, use.method);
      const name = typeof method === 'string' ? method.toUpperCase() : undefined;
      const body = use.body === undefined ? undefined : read(input, use.body);
      const sends =
        (body !== undefined && body !== null && body !== '') ||
        (name !== undefined && name !== 'GET' && name !== 'HEAD');
      facts.host({ ...address, ...(name === undefined ? {} : { method: name }), sends });
      return facts.build();
    },
  };
}

function read(input: Json, key: string): unknown {
  return isPlainObject(input) && Object.hasOwn(input, key) ? input[key] : undefined;
}
