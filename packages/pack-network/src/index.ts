export { type GuardedFetchOptions, guardedFetch } from './guarded-fetch.ts';
export { networkEgress } from './network-egress.ts';
export type { NetworkEgressOptions } from './options.ts';
