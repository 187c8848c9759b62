import * as v from 'valibot';
import { isAddressRange } from './addresses.ts';

/** Options of `networkEgress`. */
export interface NetworkEgressOptions {
  /** `example.org`, `*.example.org` for all names below it, `*` for all hosts; names as they are looked up, `xn--…`. Default: none. */
  readonly hosts?: readonly string[] | undefined;
  /** Hosts to which data may go by any method, written as `hosts`; a Git remote by its name. Default: none. */
  readonly sendTo?: readonly string[] | undefined;
  /** Default `GET` and `HEAD`. */
  readonly methods?: readonly string[] | undefined;
  /** What is answered to hosts and methods that are not listed. Default `deny`. */
  readonly unlisted?: 'ask' | 'deny' | undefined;
  /** Default `https`. Of commands, others are judged by their hosts alone: `git`, `ssh`. */
  readonly schemes?: readonly string[] | undefined;
  /** Default 80 and 443. */
  readonly ports?: readonly number[] | undefined;
  /** Ranges of addresses that are not public and may be reached all the same: `127.0.0.1/32`. Default: none. */
  readonly privateAddresses?: readonly string[] | undefined;
  /** What is answered when a call reaches this machine or a private network by a name or address that is not listed. Default `deny`. */
  readonly local?: 'ask' | 'deny' | undefined;
  /** What is answered when it is not clear what a call reaches. Default `deny`. */
  readonly unclear?: 'ask' | 'deny' | undefined;
  /** What is answered to code of the workspace, such as a test runner, that may reach anything. Default `allow`. */
  readonly project?: 'allow' | 'ask' | 'deny' | undefined;
  /** Of `guardedFetch`: characters that a URL has at most, since long ones carry data away. Default 2048. */
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
      'is no option any more: a call is judged by its facts, so hand `fetchFacts({ tools: … })` to `createFacts`',
    ),
  ),
});
