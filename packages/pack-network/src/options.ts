import * as v from 'valibot';
import { isAddressRange } from './addresses.ts';

/** Options of `networkEgress`. */
export interface NetworkEgressOptions {
  /** `example.org`, `*.example.org` for all subdomains, `*` for all hosts; names in ASCII form, `xn--…`. Default: none. */
  readonly hosts?: readonly string[] | undefined;
  /** Hosts that may receive data by any method, in the same form as `hosts`; a Git remote by its name. Default: none. */
  readonly sendTo?: readonly string[] | undefined;
  /** Default `GET` and `HEAD`. */
  readonly methods?: readonly string[] | undefined;
  /** Decision for unlisted hosts and methods. Default `deny`. */
  readonly unlisted?: 'ask' | 'deny' | undefined;
  /** Default `https`. Other schemes of commands, such as `git` and `ssh`, are judged by their hosts alone. */
  readonly schemes?: readonly string[] | undefined;
  /** Default 80 and 443. */
  readonly ports?: readonly number[] | undefined;
  /** Address ranges that are private but allowed: `127.0.0.1/32`. Default: none. */
  readonly privateAddresses?: readonly string[] | undefined;
  /** Decision for unlisted names and addresses of this machine or a private network. Default `deny`. */
  readonly local?: 'ask' | 'deny' | undefined;
  /** Decision if it is unclear what a call reaches. Default `deny`. */
  readonly unclear?: 'ask' | 'deny' | undefined;
  /** Decision for workspace code that may reach anything, such as a test runner. Default `allow`. */
  readonly project?: 'allow' | 'ask' | 'deny' | undefined;
  /** For `guardedFetch`: maximum length of a URL in characters, because long URLs can carry data out. Default 2048. */
  readonly maxUrlLength?: number | undefined;
}

const method = v.pipe(v.string(), v.regex(/^[A-Z]{1,20}$/));
const host = v.pipe(
  v.string(),
  v.maxLength(255),
  v.regex(/^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/),
);
const hosts = v.optional(v.pipe(v.array(host), v.maxLength(1_000)));
const answer = v.optional(v.picklist(['ask', 'deny']));

export const configSchema: v.GenericSchema<NetworkEgressOptions> = v.strictObject({
  hosts,
  sendTo: hosts,
  methods: v.optional(v.pipe(v.array(method), v.maxLength(20))),
  unlisted: answer,
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
  local: answer,
  unclear: answer,
  project: v.optional(v.picklist(['allow', 'ask', 'deny'])),
  maxUrlLength: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000))),
  tools: v.optional(
    v.never(
      'is no longer an option: calls are judged by their facts; pass `fetchFacts({ tools: … })` to `createFacts`',
    ),
  ),
});
