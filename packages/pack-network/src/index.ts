export { type FetchOnce, type GuardedFetchOptions, guardedFetch, type LookUp } from './guarded-fetch.ts';
export { networkEgress } from './network-egress.ts';
export type { NetworkEgressOptions } from './options.ts';
