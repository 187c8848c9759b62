import {
  allow,
  ask,
  type Decision,
  definePack,
  definePolicy,
  deny,
  HoldfastError,
  isPlainObject,
  type Json,
  type Pack,
  type PreparedCall,
} from '@holdfast/core';
import manifest from '../package.json' with { type: 'json' };
import { configSchema, type NetworkEgressOptions, type RequestArguments } from './options.ts';
import { createUrlRules, hostOf, readUrl, type UrlProblem, type UrlRules } from './url-rules.ts';

const usualTools: readonly string[] = [
  ...['fetch', 'fetch_url', 'fetch_page', 'web_fetch', 'http_request', 'http_get', 'open_url', 'read_url', 'visit_url'],
  ...['browse', 'browser_navigate', 'download', 'download_file'],
];
const usualPlaces: RequestArguments = { url: 'url', method: 'method' };

/**
 * Which URLs tools may reach. URLs are compared as the WHATWG URL standard reads them, so that no spelling of a host or an address
 * leads elsewhere; addresses that are not public are refused. Where a tool's result says which URL it came from, a call that was
 * redirected to what must not be reached fails with `policy.network_egress`, before anybody sees the result.
 *
 * Names are not looked up: for that, and to hold every redirect to the same rules, a tool fetches with `guardedFetch`.
 */
export const networkEgress: Pack<NetworkEgressOptions> = definePack<NetworkEgressOptions, NetworkEgressOptions>({
  name: 'network-egress',
  version: manifest.version,
  description: 'Which hosts tools may reach, by which methods, and no private addresses.',
  configSchema,
  presets: {
    recommended: {
      description: 'A person is asked about hosts that are not listed, and about methods that may change something.',
      config: { unlisted: 'ask', schemes: ['https', 'http'] },
    },
    strict: {
      description: 'Only listed hosts, read by GET and HEAD over https.',
      config: { unlisted: 'deny', schemes: ['https'], ports: [443] },
    },
  },
  policies(config) {
    const rules = createUrlRules(config);
    const placesOf = config.tools === undefined ? usualArguments : namedArguments(config.tools);
    return [
      definePolicy({
        name: 'requests',
        tools: Object.keys(config.tools ?? {}),
        check(call) {
          const places = placesOf(call);
          return places === undefined ? allow : decide(call, places, rules);
        },
        onResult(call, { value }) {
          const places = placesOf(call);
          if (places?.finalUrl !== undefined)
            checkFinalUrls(call, value, { ...places, finalUrl: places.finalUrl }, rules);
          return undefined;
        },
      }),
    ];
  },
});

function namedArguments(
  tools: NonNullable<NetworkEgressOptions['tools']>,
): (call: PreparedCall) => RequestArguments | undefined {
  const places = new Map(
    Object.entries(tools).map(([name, found]): [string, RequestArguments] => [
      name,
      typeof found === 'string' ? { url: found } : found,
    ]),
  );
  return ({ tool }) => places.get(tool.name);
}

/** Also of `web_fetch_url`, as a plugin's `fetch_url` is called under a prefix; but then only where there is a URL. */
function usualArguments({ tool: { name }, input }: PreparedCall): RequestArguments | undefined {
  if (usualTools.includes(name)) return usualPlaces;
  const isPrefixed = usualTools.some((usual) => name.endsWith(`_${usual}`) || name.endsWith(`-${usual}`));
  return isPrefixed && readKey(input, usualPlaces.url) !== undefined ? usualPlaces : undefined;
}

function decide({ tool, input }: PreparedCall, places: RequestArguments, rules: UrlRules): Decision {
  const urls = textsOf(readKey(input, places.url));
  if (urls === undefined) return deny(`\`${places.url}\` of \`${tool.name}\` must be a URL, or a list of URLs.`);
  const given = places.method === undefined ? undefined : readKey(input, places.method);
  const method = given === undefined ? (places.usualMethod ?? 'GET') : given;
  return toDecision([...rules.inspectMethod(method), ...urls.flatMap((url) => rules.inspectUrl(url))]);
}

const maxReasons = 5;

function toDecision(problems: readonly UrlProblem[]): Decision {
  const denied = problems.filter(({ answer }) => answer === 'deny');
  const telling = denied.length > 0 ? denied : problems;
  const reasons = [...new Set(telling.map(({ reason }) => reason))].slice(0, maxReasons).join(' ');
  if (telling.length === 0) return allow;
  return denied.length > 0 ? deny(reasons) : ask(reasons);
}

function checkFinalUrls(
  { tool, input }: PreparedCall,
  value: Json,
  { url, finalUrl }: RequestArguments & { readonly finalUrl: string },
  rules: UrlRules,
): void {
  const refused = (problem: string): HoldfastError =>
    new HoldfastError(
      'policy.network_egress',
      `\`${tool.name}\` came from a URL that must not be reached: ${problem}`,
      { data: { tool: tool.name } },
    );
  const found = textsOf(finalUrl.split('.').reduce<unknown>(readKey, value));
  if (found === undefined) throw refused(`its result has no URL as \`${finalUrl}\`.`);
  // Who let the call through let it reach what it asked for.
  const requested = new Set((textsOf(readKey(input, url)) ?? []).map(toHost));
  for (const final of found) {
    const [problem] = rules.inspectUrl(final).filter(({ kind }) => kind !== 'host' || !requested.has(toHost(final)));
    if (problem !== undefined) throw refused(problem.reason);
  }
}

function toHost(text: string): string | undefined {
  const url = readUrl(text);
  return url === undefined ? undefined : hostOf(url);
}

function readKey(value: unknown, key: string): unknown {
  return isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** One text, or a list of at least one. */
function textsOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
  return isList ? value : undefined;
}
