import { findToolNameProblem } from '@holdfast/core';
import * as v from 'valibot';
import { isAddressRange } from './addresses.ts';

/** Which arguments of a tool say what it requests. */
export interface RequestArguments {
  /** The argument with the URL, or with a list of them. */
  readonly url: string;
  /** The argument with the method. Default: there is none. */
  readonly method?: string | undefined;
  /** The method where no argument has one. Default `GET`. */
  readonly usualMethod?: string | undefined;
  /**
   * The key of the result that holds the URL, or all the URLs, where the answer came from, `page.url` for one within. Without it
   * the call fails, as it does when the rules refuse that URL. Default: the result is not looked at.
   */
  readonly finalUrl?: string | undefined;
}

/** Options of `networkEgress`. */
export interface NetworkEgressOptions {
  /**
   * By tool; a text is the argument with the URL. Default: `url` and `method` of `fetch`, `fetch_url`, `fetch_page`, `web_fetch`,
   * `http_request`, `http_get`, `open_url`, `read_url`, `visit_url`, `browse`, `browser_navigate`, `download` and `download_file`, as far
   * as the host has them, also behind a prefix: `dev_fetch`.
   */
  readonly tools?: Readonly<Record<string, string | RequestArguments>> | undefined;
  /** `example.org`, `*.example.org` for all names below it, `*` for all hosts; names as they are looked up, `xn--…`. Default: none. */
  readonly hosts?: readonly string[] | undefined;
  /** Default `GET` and `HEAD`. */
  readonly methods?: readonly string[] | undefined;
  /** What is answered to hosts and methods that are not listed. Default `deny`. */
  readonly unlisted?: 'ask' | 'deny' | undefined;
  /** Default `https`. */
  readonly schemes?: readonly string[] | undefined;
  /** Default 80 and 443. */
  readonly ports?: readonly number[] | undefined;
  /** Ranges of addresses that are not public and may be reached all the same: `127.0.0.1/32`. Default: none. */
  readonly privateAddresses?: readonly string[] | undefined;
  /** Characters that a URL has at most: long ones carry data away. Default 2048. */
  readonly maxUrlLength?: number | undefined;
}

const key = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const method = v.pipe(v.string(), v.regex(/^[A-Z]{1,20}$/));
const host = v.pipe(
  v.string(),
  v.maxLength(255),
  v.regex(/^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/),
);

export const configSchema: v.GenericSchema<NetworkEgressOptions> = v.strictObject({
  tools: v.optional(
    v.record(
      v.pipe(
        v.string(),
        v.check((name) => findToolNameProblem(name) === undefined, 'must be the name of a tool'),
      ),
      v.union([
        key,
        v.strictObject({
          url: key,
          method: v.optional(key),
          usualMethod: v.optional(method),
          finalUrl: v.optional(key),
        }),
      ]),
    ),
  ),
  hosts: v.optional(v.pipe(v.array(host), v.maxLength(1_000))),
  methods: v.optional(v.pipe(v.array(method), v.maxLength(20))),
  unlisted: v.optional(v.picklist(['ask', 'deny'])),
  schemes: v.optional(v.pipe(v.array(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9+.-]{0,19}$/))), v.maxLength(20))),
  ports: v.optional(
    v.pipe(v.array(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))), v.maxLength(100)),
  ),
  privateAddresses: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.check(isAddressRange, 'Expected a range of addresses such as 10.0.0.0/8'))),
      v.maxLength(100),
    ),
  ),
  maxUrlLength: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000))),
});
